// A workflow of a program, as the engine runs it: its operations are those of the engine's port in the same process.

import { z } from "zod";

import type { Durable } from "../ports.ts";
import { TuttiError } from "../protocol/error.ts";
import { Answer } from "../protocol/task/ask.ts";
import { messageText, userMessage } from "../protocol/task/message.ts";
import { spawnTargets, workflowTask } from "../runner/program/plan-target.ts";
import type { Program, ProgramWorkflow } from "../runner/program/program.ts";
import type { CodeWorkflow } from "./code-workflow.ts";
import { readWith } from "./read-schema.ts";
import { runWorkflow } from "./workflow-context.ts";
import type { WorkflowPort } from "./workflow-port.ts";

export function programWorkflow(workflow: CodeWorkflow, program: () => Program): ProgramWorkflow {
  const { name, input: schema } = workflow;
  return {
    name,
    read: (input) => readWith(schema, input, `the input of ${name}`),
    run: (durable, input) => runWorkflow(workflow, portOver(durable, program()), input),
  };
}

function portOver(durable: Durable, program: Program): WorkflowPort {
  const { task, attempt, agent, signal } = durable;
  return {
    task,
    attempt,
    agent,
    signal,
    durable,
    step: (key, body, { repeatable = false, timeoutMs, input }) =>
      durable.step(
        key,
        {
          repeatable,
          schema: z.unknown(),
          ...(timeoutMs === undefined ? {} : { timeout: timeoutMs }),
          ...(input === undefined ? {} : { input }),
        },
        (step) => {
          const progress = (text: string): void => step.live("output", text);
          return body({ signal: step.signal, key: step.key, progress, now: () => step.now() });
        },
      ),
    sleep: (key, ms) => durable.sleep(key, ms),
    now: (key) => durable.now(key),
    id: (key) => durable.id(key),
    async runAgents(key, targets) {
      const wanted = targets.map((target) => {
        const name = typeof target.agent === "string" ? target.agent : target.agent.name;
        knownAgent(program, name);
        return { agent: name, message: userMessage(target.prompt) };
      });
      return durable.join(await spawnTargets(durable, program, key, wanted));
    },
    async startWorkflow(key, name, input) {
      const child = workflowTask(program, { workflow: name, input }, { rights: durable.rights, now: 0 });
      const [result] = await durable.join(await durable.spawn(key, [child]));
      if (result === undefined) throw new TuttiError("internal", "a child that was joined has no result");
      return result;
    },
    wait: (key, options) => durable.wait(key, { ...options, schema: Answer }),
    async receive(key) {
      const message = await durable.receive(key, { block: true });
      return message === undefined ? "" : messageText(message);
    },
  };
}

/** Only what `openTutti` knows can be found again after a restart. */
export function knownAgent({ file }: Pick<Program, "file">, name: string): void {
  if (Object.hasOwn(file.agents, name)) return;
  const message = `the agent ${name} is not known; list it in \`agents\` of openTutti, so that its runs go on after a restart`;
  throw new TuttiError("invalid_input", message);
}
