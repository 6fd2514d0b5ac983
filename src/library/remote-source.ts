// Runs in a daemon elsewhere: the definitions are sent with each run, and this process attends it with the code that it needs.

import { httpClient } from "../client/http-client.ts";
import type { Tutti } from "../client/client.ts";
import { TuttiError } from "../protocol/error.ts";
import { type AgentResult, InvocationResult } from "../protocol/invocation/invocation-result.ts";
import { all, named, single } from "../protocol/invocation/invocation-builders.ts";
import type { Invocation } from "../protocol/invocation/invocation.ts";
import { attendedCode, type AttendedProgram } from "./attended-program.ts";
import { type AttendedCode, attendRun } from "./attend-run.ts";
import type { AnyAgent } from "./code-agent.ts";
import type { CodeWorkflow } from "./code-workflow.ts";
import { compileProgram } from "./compile-program.ts";
import { invocationFile } from "./remote-invocation.ts";
import type { OpenRemoteOptions } from "./open-tutti.ts";
import { readWith } from "./read-schema.ts";
import type { RunSource, StartedRun, StartSettings } from "./run-source.ts";

interface Definitions {
  readonly agents: readonly AnyAgent[];
  readonly workflows: readonly CodeWorkflow[];
}

/** Attending one run, by whichever run objects. */
interface Attended {
  readonly programs: Set<AttendedProgram>;
  users: number;
  readonly ended: Promise<void>;
}

export function remoteSource(options: OpenRemoteOptions): RunSource {
  const { url, key, fetch: send, agents: listed = [], workflows: known = [], model, approvals, models } = options;
  const client = httpClient({ url, key, ...(send === undefined ? {} : { fetch: send }) });
  const process = crypto.randomUUID();
  const attended = new Map<string, Attended>();
  const compiled = new WeakMap<object, AttendedProgram>();
  /** What an agent needs; a workflow may run any agent that was listed, so it needs all of them. */
  const programOf = ({ agents, workflows }: Definitions): AttendedProgram => {
    const [only] = [...agents, ...workflows];
    const isOne = agents.length + workflows.length === 1 && only !== undefined;
    const found = isOne ? compiled.get(only) : undefined;
    if (found !== undefined) return found;
    const first = compileProgram({ agents: [...new Set(agents)], workflows, model, approvals });
    const whole =
      first.workflows.length === 0
        ? first
        : compileProgram({
            agents: [...new Set([...agents, ...listed])],
            workflows: [...new Set([...workflows, ...known])],
            model,
            approvals,
          });
    const program = { compiled: whole, models };
    if (isOne) compiled.set(only, program);
    return program;
  };
  const start = async (
    program: AttendedProgram,
    invocation: Invocation,
    settings: StartSettings,
  ): Promise<StartedRun> => {
    const file = await invocationFile(program, invocation, settings);
    const once = settings.key === undefined ? { anew: true } : { key: settings.key };
    const { task, existed } = await client.invoke(JSON.stringify(file), once);
    return { task, existed };
  };
  return {
    isShared: true,
    client,
    startAgent: (agent, prompt, settings) =>
      start(programOf({ agents: [agent], workflows: [] }), single(named(agent.name, prompt)), settings),
    startFanOut(targets, settings) {
      if (targets.length === 0) throw new TuttiError("invalid_input", "a fan-out needs at least one target");
      const agents = targets.map(({ agent }) => agent);
      const invocation = all(targets.map(({ agent, prompt }) => named(agent.name, prompt)));
      return start(programOf({ agents, workflows: [] }), invocation, settings);
    },
    async startWorkflow(workflow, input, settings) {
      // A mistake is told at once and starts nothing.
      await readWith(workflow.input, input, `the input of ${workflow.name}`);
      const prompt = JSON.stringify(input) ?? "null";
      return start(programOf({ agents: [], workflows: [workflow] }), single(named(workflow.name, prompt)), settings);
    },
    send: async (task, text) => client.sendMessage(await ownTask(client, task), text),
    agentResult: (task, signal) => resultOf(client, task, signal),
    targetResults: (task, signal) => resultsOf(client, task, signal),
    async attend({ task }, definitions, signal) {
      const program = programOf(definitions);
      const codes = new Set([program]);
      const { tools, workflows, models: objects } = attendedCode(codes);
      if (tools.size + workflows.size + objects.size === 0) return;
      const running =
        attended.get(task) ??
        attending({ programs: codes, users: 0 }, (code) => attendRun(client, { task, process, code, signal }));
      attended.set(task, running);
      running.programs.add(program);
      running.users += 1;
      try {
        await running.ended;
      } finally {
        running.users -= 1;
        if (running.users === 0) attended.delete(task);
      }
    },
    parked: () => [],
    crashed: new Promise(() => undefined),
    close: () => client.close(),
  };
}

/** The code is looked at with each request, since other run objects may bring more of it. */
function attending(of: Omit<Attended, "ended">, attend: (code: () => AttendedCode) => Promise<void>): Attended {
  return { ...of, ended: attend(() => attendedCode(of.programs)) };
}

/** The task of the agent or the workflow itself, which the one at the top starts as soon as it runs. */
async function ownTask(client: Pick<Tutti, "follow">, run: string): Promise<string> {
  for await (const each of client.follow({ task: run })) {
    if ("event" in each && each.event.type === "task.created" && each.event.task !== run) return each.event.task;
  }
  return run;
}

type ResultClient = Pick<Tutti, "result">;

/** The task at the top only starts the agent. */
async function resultOf(client: ResultClient, task: string, signal?: AbortSignal): Promise<AgentResult> {
  const top = await client.result(task, signal);
  const read = InvocationResult.safeParse(top.content);
  return read.success && read.data.kind === "scalar" ? read.data.result : top;
}

/** The list of results may have been cut, and each task has its own whole. */
async function resultsOf(client: ResultClient, task: string, signal?: AbortSignal): Promise<readonly AgentResult[]> {
  const top = await client.result(task, signal);
  const read = InvocationResult.safeParse(top.content);
  if (!read.success || read.data.kind !== "vector") return [top];
  return Promise.all(read.data.results.map((each) => client.result(each.task_id, signal)));
}
