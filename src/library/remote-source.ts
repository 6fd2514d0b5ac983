// Runs in a daemon elsewhere: the definitions are sent with each run, and this process carries out the calls of its tools.

import { httpClient } from "../client/http-client.ts";
import type { Tutti } from "../client/client.ts";
import { TuttiError } from "../protocol/error.ts";
import { type AgentResult, InvocationResult } from "../protocol/invocation/invocation-result.ts";
import { all, named, single } from "../protocol/invocation/invocation-builders.ts";
import type { Invocation } from "../protocol/invocation/invocation.ts";
import type { RehearsalScript } from "../protocol/invocation/rehearsal-script.ts";
import { rehearsalModelName } from "../core/rehearsal-name.ts";
import { isModelObject } from "../model/model-object.ts";
import { defaultBudget } from "../protocol/task/budget.ts";
import type { AnyAgent } from "./code-agent.ts";
import { type CompiledProgram, compileProgram } from "./compile-program.ts";
import type { OpenRemoteOptions } from "./open-tutti.ts";
import type { RunSource, StartedRun, StartSettings } from "./run-source.ts";
import { attendTools } from "./attend-tools.ts";

export function remoteSource({ url, key, fetch: send }: OpenRemoteOptions): RunSource {
  const client = httpClient({ url, key, ...(send === undefined ? {} : { fetch: send }) });
  /** The calls of each run that is attended, which may be by several run objects. */
  const taken = new Map<string, { readonly ids: Set<string>; users: number }>();
  const compiled = new WeakMap<AnyAgent, CompiledProgram>();
  const programOf = (agents: readonly AnyAgent[]): CompiledProgram => {
    const [only] = agents;
    const known = agents.length === 1 && only !== undefined ? compiled.get(only) : undefined;
    const program = known ?? checked(compileProgram({ agents: [...new Set(agents)], workflows: [] }));
    if (agents.length === 1 && only !== undefined) compiled.set(only, program);
    return program;
  };
  const start = async (
    agents: readonly AnyAgent[],
    invocation: Invocation,
    settings: StartSettings,
  ): Promise<StartedRun> => {
    const file = invocationFile(programOf(agents), invocation, settings);
    const key = settings.key === undefined ? { anew: true } : { key: settings.key };
    const { task, existed } = await client.invoke(JSON.stringify(file), key);
    return { task, existed };
  };
  return {
    isShared: true,
    client,
    startAgent: (agent, prompt, settings) => start([agent], single(named(agent.name, prompt)), settings),
    startFanOut: (targets, settings) =>
      start(
        targets.map(({ agent }) => agent),
        all(targets.map(({ agent, prompt }) => named(agent.name, prompt))),
        settings,
      ),
    async startWorkflow({ name }) {
      const message = `the workflow ${name} is code of this program, which a daemon does not have; open a state folder instead`;
      throw new TuttiError("refused", message);
    },
    agentResult: (task, signal) => resultOf(client, task, signal),
    targetResults: (task, signal) => resultsOf(client, task, signal),
    async attend(started, agents, signal) {
      const { task } = started;
      const calls = taken.get(task) ?? { ids: new Set<string>(), users: 0 };
      taken.set(task, calls);
      calls.users += 1;
      try {
        const { codeTools: tools } = programOf(agents);
        await attendTools(client, { ...started, tools, signal, taken: calls.ids });
      } finally {
        calls.users -= 1;
        if (calls.users === 0) taken.delete(task);
      }
    },
    parked: () => [],
    crashed: new Promise(() => undefined),
    close: () => client.close(),
  };
}

/** Throws for what a daemon cannot be sent. */
function checked(program: CompiledProgram): CompiledProgram {
  for (const [name, model] of program.models) {
    if (!isModelObject(model)) continue;
    const message = `the model ${name} is an object of this program, which a daemon does not have; name it as provider/model`;
    throw new TuttiError("invalid_input", message);
  }
  for (const { name, approval } of program.codeTools.values()) {
    if (approval !== "ask") continue;
    const message = `calls of ${name} cannot be asked about over HTTP, because this process carries them out; leave out \`approval\``;
    throw new TuttiError("invalid_input", message);
  }
  return program;
}

function invocationFile(
  program: CompiledProgram,
  invocation: Invocation,
  { budget, roots = [], thread }: StartSettings,
) {
  const scripted = new Map(
    [...program.models].flatMap(([name, model]) => (isModelObject(model) ? [] : [[name, model]])),
  );
  const rules = Object.entries(program.agents).flatMap(([agent, { model = "" }]) =>
    (scripted.get(model)?.rules ?? []).map((rule): RehearsalScript["rules"][number] => ({ agent, ...rule })),
  );
  const agents = Object.fromEntries(
    Object.entries(program.agents).map(([name, { model, ...definition }]) => [
      name,
      { ...definition, ...(model === undefined ? {} : { model: scripted.has(model) ? rehearsalModelName : model }) },
    ]),
  );
  return {
    ...(thread === undefined ? {} : { thread }),
    invocation,
    agents,
    ...(scripted.size === 0 ? {} : { script: { rules } }),
    external_tools: program.tools.map(({ declaration }) => declaration),
    roots,
    budget: { tasks: Math.max(defaultBudget.tasks, invocation.targets.length + 1), ...budget },
  };
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
