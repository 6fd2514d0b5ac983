// What a workflow works with: the engine's port with typed children, and errors that say which rule of the port was broken.

import { z } from "zod";

import { approvalOutcome } from "../core/approval.ts";
import type { AskSpec, Durable } from "../ports.ts";
import { TuttiError } from "../protocol/error.ts";
import type { AgentResult } from "../protocol/invocation/invocation-result.ts";
import { Answer } from "../protocol/task/ask.ts";
import { messageText, userMessage } from "../protocol/task/message.ts";
import { workflowPrefix } from "../runner/program/config.ts";
import { spawnTargets, workflowTask } from "../runner/program/plan-target.ts";
import type { Program, ProgramWorkflow } from "../runner/program/program.ts";
import type { AnyAgent } from "./code-agent.ts";
import type { CodeWorkflow, WorkflowAsk, WorkflowContext } from "./code-workflow.ts";
import { outcomeOf, outputReader } from "./code-run.ts";
import type { RunOutcome } from "./run-outcome.ts";
import { readWith } from "./read-schema.ts";
import type { AnyTarget } from "./run-target.ts";

/** The workflow as the engine runs it. */
export function programWorkflow(workflow: CodeWorkflow, program: () => Program): ProgramWorkflow {
  const { name, input: schema } = workflow;
  return {
    name,
    read: (input) => readWith(schema, input, `the input of ${name}`),
    run: (durable, input) => invoke(workflow, workflowContext(durable, program()), input),
  };
}

/** What the schema has read has the type of the input. */
function invoke(workflow: CodeWorkflow, context: WorkflowContext, input: unknown): Promise<unknown> {
  const run: (durable: WorkflowContext, input: never) => Promise<unknown> = workflow.run.bind(workflow);
  return Reflect.apply(run, workflow, [context, input]);
}

function workflowContext(durable: Durable, program: Program): WorkflowContext {
  const used = new Set<string>();
  /** A loop that uses the same key twice would get the first outcome again and take it for a new one. */
  const own = (key: string): string => {
    if (key === "" || key.includes("!")) {
      throw new TuttiError("invalid_input", `the key ${JSON.stringify(key)} of a step must not be empty or have a "!"`);
    }
    if (used.has(key)) {
      const message = `the key ${key} was used twice in ${durable.agent}; give each step of a loop a key of its own, as in \`step(\`charge:\${id}\`, …)\``;
      throw new TuttiError("invalid_input", message);
    }
    used.add(key);
    return `${workflowPrefix}${key}`;
  };
  const runTargets = async (key: string, targets: readonly AnyTarget[]): Promise<RunOutcome<unknown>[]> => {
    for (const { agent } of targets) knownAgent(program, agent.name);
    const wanted = targets.map(({ agent, prompt }) => ({ agent: agent.name, message: userMessage(prompt) }));
    const results = await durable.join(await spawnTargets(durable, program, own(key), wanted));
    return Promise.all(results.map((result, index) => readResult(result, targets[index]?.agent)));
  };
  const context: Omit<WorkflowContext, "run" | "fanOut" | "step" | "start"> & Untyped = {
    task: durable.task,
    attempt: durable.attempt,
    signal: durable.signal,
    port: durable,
    step: (key, body, { repeatable = false, timeoutMs, input } = {}) =>
      durable.step(
        own(key),
        {
          repeatable,
          schema: z.unknown(),
          ...(timeoutMs === undefined ? {} : { timeout: timeoutMs }),
          ...(input === undefined ? {} : { input }),
        },
        async (step) => {
          const progress = (text: string): void => step.live("output", text);
          return recordable(key, await body({ signal: step.signal, key: step.key, progress, now: () => step.now() }));
        },
      ),
    sleep: (key, ms) => durable.sleep(own(key), ms),
    now: (key) => durable.now(own(key)),
    id: (key) => durable.id(own(key)),
    async run(key, agent, prompt) {
      const [outcome] = await runTargets(key, [{ agent, prompt }]);
      return valueOf(outcome);
    },
    async start(key, workflow, input) {
      const child = workflowTask(program, { workflow: workflow.name, input }, { rights: durable.rights, now: 0 });
      const [result] = await durable.join(await durable.spawn(own(key), [child]));
      return valueOf(
        result === undefined
          ? undefined
          : await outcomeOf({ result: async () => result, read: async (value) => value }),
      );
    },
    fanOut: runTargets,
    async ask(key, ask) {
      const waited = await durable.wait(own(key), { ...askOf("question", ask), schema: Answer });
      return "expired" in waited || waited.value.kind !== "question" ? undefined : String(waited.value.value);
    },
    async approve(key, ask) {
      const waited = await durable.wait(own(key), { ...askOf("approval", ask), schema: Answer });
      return approvalOutcome(waited).approved;
    },
    async receive(key) {
      const message = await durable.receive(own(key), { block: true });
      return message === undefined ? "" : messageText(message);
    },
  };
  return typed(context);
}

/** The operations whose types depend on the program: what they return was read by its schemas, or came out of JSON. */
interface Untyped {
  step(
    key: string,
    body: Parameters<WorkflowContext["step"]>[1],
    options?: Parameters<WorkflowContext["step"]>[2],
  ): Promise<unknown>;
  run(key: string, agent: AnyAgent, prompt: string): Promise<unknown>;
  start(key: string, workflow: Pick<CodeWorkflow, "name">, input: unknown): Promise<unknown>;
  fanOut(key: string, targets: readonly AnyTarget[]): Promise<unknown>;
}

function typed(context: Omit<WorkflowContext, keyof Untyped> & Untyped): WorkflowContext;
function typed(context: unknown): unknown {
  return context;
}

/** Only what `openTutti` knows can be found again after a restart. */
export function knownAgent({ file }: Pick<Program, "file">, name: string): void {
  if (Object.hasOwn(file.agents, name)) return;
  const message = `the agent ${name} is not known; list it in \`agents\` of openTutti, so that its runs go on after a restart`;
  throw new TuttiError("invalid_input", message);
}

/** What JSON would lose is told at once, and not after the next restart. */
function recordable(key: string, outcome: unknown): unknown {
  if (outcome === undefined) return null;
  try {
    const text = JSON.stringify(outcome);
    if (text !== undefined) return outcome;
  } catch {
    // Told below.
  }
  const message = `the step ${key} returned something that cannot be written as JSON; return plain data`;
  throw new TuttiError("invalid_input", message);
}

function readResult(result: AgentResult, agent: AnyAgent | undefined): Promise<RunOutcome<unknown>> {
  return outcomeOf({ result: async () => result, read: outputReader(agent?.output, agent?.name ?? "") });
}

function valueOf(outcome: RunOutcome<unknown> | undefined): unknown {
  if (outcome === undefined) throw new TuttiError("internal", "a child that was joined has no result");
  if (outcome.status !== "completed") throw outcome.error;
  return outcome.output;
}

function askOf(kind: AskSpec["kind"], given: string | WorkflowAsk): { ask: AskSpec; within?: number } {
  const { question, choices, details, withinMs } = typeof given === "string" ? { question: given } : given;
  return {
    ask: {
      kind,
      question,
      ...(choices === undefined ? {} : { choices }),
      ...(details === undefined ? {} : { details }),
    },
    ...(withinMs === undefined ? {} : { within: withinMs }),
  };
}
