// Makes a workflow that a config registers a runner of its project's trees: its code runs in the config's own process, and asks for every operation.

import { agentEnvironment, type AgentEnvironment } from "../../agent/agent-environment.ts";
import type { NewTask, Runner } from "../../ports.ts";
import { TuttiError } from "../../protocol/error.ts";
import { workflowInput } from "../../runner/program/workflow-input.ts";
import { type ConfigProcess, LostProcess } from "./config-process.ts";
import type { CallReply } from "./config-messages.ts";
import { WorkflowWork } from "./workflow-work.ts";

/** How often in a row the process may end under a workflow without any body of it having ended. */
const mostLosses = 3;

export function configWorkflow(kind: string, process: ConfigProcess, given: Partial<AgentEnvironment>): Runner {
  const environment = agentEnvironment(given);
  const losses = new Map<string, number>();
  return async (durable, config) => {
    if (Object.keys(Object(config)).length > 0) {
      const message = `the runner ${kind} is a workflow and takes its input from the prompt, so it has no config; leave \`config\` out`;
      throw new TuttiError("invalid_input", message);
    }
    const { task, attempt, agent, run } = durable;
    const place = `${task}/${attempt}.${run}`;
    const work = new WorkflowWork(durable, { environment, runnerOf: (name) => registered(environment, name) });
    try {
      const result = await process.run((id, send) => {
        work.attach((order) => send({ id, ...order }));
        const request = { kind: "run" as const, id, name: kind, input: workflowInput(durable), task, attempt, agent };
        return { request, heard: (reply: CallReply) => hear(work, reply), signal: durable.signal };
      });
      losses.delete(place);
      return result;
    } catch (thrown) {
      const count = (work.hasProgressed ? 0 : (losses.get(place) ?? 0)) + 1;
      losses.delete(place);
      if (!(thrown instanceof LostProcess) || count > mostLosses) throw thrown;
      losses.set(place, count);
      // As after a restart: the next process begins the function again, and what was recorded is not done again.
      return durable.replay();
    }
  };
}

function registered({ runners }: AgentEnvironment, name: string): NewTask["runner"] {
  if (runners.some(({ kind }) => kind === name)) return { kind: name, config: {} };
  throw new TuttiError("not_found", `the config has no workflow ${name} among its runners; add it there`);
}

/** How the workflow ends is awaited elsewhere. */
function hear(work: WorkflowWork, reply: CallReply): void {
  if (reply.kind === "result" || reply.kind === "failed") return;
  if (reply.kind !== "progress") work.hear(reply);
  else if (reply.op !== undefined) work.hear({ kind: "progress", op: reply.op, text: reply.text });
}
