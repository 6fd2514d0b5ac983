// Delegated tasks in a real engine: real git, workspaces, checks in the sandbox, and the rehearsal as every model.

import { mkdirSync } from "node:fs";
import { join } from "node:path";

import { builtinTools } from "../../src/agent/agent-environment.ts";
import { treeFile } from "../../src/agent/delegation/task-input.ts";
import { makeHandoff } from "../../src/core/make-handoff.ts";
import { systemClock } from "../../src/engine/clock.ts";
import { Engine } from "../../src/engine/engine.ts";
import { rehearsalModel } from "../../src/model/rehearsal/rehearsal-model.ts";
import type { Model } from "../../src/model-port.ts";
import type { Runner } from "../../src/ports.ts";
import { initialPolicy } from "../../src/protocol/routing/default-policy.ts";
import type { Policy } from "../../src/protocol/routing/policy.ts";
import { type AssignmentConfig, AssignmentResult } from "../../src/protocol/task/assignment.ts";
import type { PlannedTask } from "../../src/protocol/task/goal.ts";
import { userMessage } from "../../src/protocol/task/message.ts";
import { attemptVerifier } from "../../src/runner/assignment/attempt-verifier.ts";
import { keptAllowedChecks } from "../../src/daemon/project/allowed-checks.ts";
import { runPersonsProgram } from "../../src/daemon/state/run-persons-program.ts";
import { assignmentRunner } from "../../src/runner/assignment/runner.ts";
import type { Verify } from "../../src/runner/assignment/verifier.ts";
import { localRunner } from "../../src/runner/local/runner.ts";
import { cleanUp } from "../../src/runner/shared/process/clean-up.ts";
import { confineGit } from "../../src/runner/shared/sandbox/confine-git.ts";
import { probeSandbox } from "../../src/runner/shared/sandbox/sandbox-status.ts";
import type { Store } from "../../src/store/store.ts";
import { openWorkspaces, recoverWorkspaces } from "../../src/workspace/index.ts";
import { idOf } from "./agent-kit.ts";
import { openStoreIn } from "./stores.ts";
import { ownSalt } from "../../src/store/names.ts";

export const sandbox = await probeSandbox();
/** For tests that need the sandbox. */
export const skipUnconfined = sandbox.confined ? false : sandbox.reason;

/** Three models, so that a reviewer is somebody else than the author. */
export const threeModels: Policy = {
  ...initialPolicy(),
  policy: { router: "lab/router", info: "lab/info", build: "lab/build", escalate_to: "lab/big", conf_threshold: 0.8 },
  gate: { ...initialPolicy().gate, fail_if_conf_less: 0.8 },
};

export const planned: PlannedTask = {
  id: "fix",
  round: 1,
  prompt: "Make total.txt say 4.",
  workdir: ".",
  kind: "code_change",
  after: [],
  agent: null,
  runtime: null,
  model: null,
  checks: [],
  acceptance: [],
  conf: 0.9,
  risks: [],
  assumptions: [],
  constraints: [],
  supersedes: null,
};

export interface Delegated {
  /** The person's repository. */
  readonly folder: string;
  /** Rules of the rehearsal: for the agent `coder`, for `_router` and for `_reviewer`. */
  readonly rules: readonly unknown[];
  readonly planned?: Partial<PlannedTask>;
  readonly config?: Partial<AssignmentConfig>;
}

export interface AssignmentWorldOptions {
  readonly policy?: Policy;
  readonly isDefault?: boolean;
  readonly verify?: (real: Verify) => Verify;
  readonly model?: (real: Model) => Model;
  /** Called with the name of each step in which a workspace is made or removed. */
  readonly checkpoint?: (name: string) => Promise<void>;
  /** One of several machines, each with a folder of its own, which share the records in this folder. */
  readonly machine?: { readonly name: string; readonly records: string };
}

export interface AssignmentWorld {
  readonly engine: Engine;
  readonly store: Store;
  /** Starts the tree, or finds it. Returns its root. */
  start(delegated: Delegated): Promise<string>;
  result(root: string): Promise<AssignmentResult>;
  /** Of the whole tree, in order. */
  events(root: string): { readonly task: number; readonly type: string; readonly data: Record<string, unknown> }[];
  waits(root: string): { readonly id: string; readonly question: string; readonly kind: string }[];
  answer(id: string, value: unknown, kind?: "person" | "rule"): Promise<void>;
  /** An answer that is not taken. Returns why. */
  refuses(id: string, value: unknown): Promise<string>;
  close(): Promise<void>;
}

/** Opens the same folder again after it was closed or its process died. */
export async function assignmentWorld(root: string, options: AssignmentWorldOptions = {}): Promise<AssignmentWorld> {
  const state = join(root, "state");
  mkdirSync(state, { recursive: true });
  const { machine } = options;
  const store = openStoreIn(machine?.records ?? state);
  const workspaceStore = openWorkspaces(
    state,
    machine === undefined ? {} : { machine: { id: `id-of-${machine.name}`, name: machine.name } },
  );
  const workspaces = {
    ...(machine === undefined ? {} : { runPersonsProgram }),
    store: options.checkpoint === undefined ? workspaceStore : { ...workspaceStore, checkpoint: options.checkpoint },
    commits: "tutti",
    copy: [],
    confine: confineGit(sandbox, [state]),
  } as const;
  await recoverWorkspaces(workspaceStore);
  const models = new WeakMap<object, Model>();
  const modelFor = (file: ReturnType<typeof treeFile>): Model => {
    const known =
      models.get(file) ?? (options.model ?? ((real: Model) => real))(rehearsalModel(file.script ?? { rules: [] }));
    models.set(file, known);
    return known;
  };
  const local = localRunner({
    model: modelFor,
    tools: builtinTools,
    approvals: [{ from: "user", rules: { write: "free", execute: "free" } }],
    workspaces,
    setUp: { sandbox, toolchains: [], homes: join(root, "homes") },
  });
  const real = attemptVerifier({ workspaces, sandbox, hidden: [state], toolchains: [], folder: `${state}-checks` });
  const assignment = assignmentRunner({
    inner: { local },
    registered: [],
    policyOf: () => ({ policy: options.policy ?? threeModels, isDefault: options.isDefault ?? false }),
    modelOf: ({ rootInput }) => modelFor(treeFile(rootInput)),
    resolveModel: (name) => name,
    verify: options.verify?.(real) ?? real,
    allowed: keptAllowedChecks(state),
    confined: sandbox.confined,
    workspaces,
  });
  const engine = new Engine({ store, clock: systemClock, runners: { local, assignment, parent }, cleanUp });
  await engine.recover();
  return {
    engine,
    store,
    start: async (delegated) => (await engine.start(rootTask(delegated), { key: "k" })).task,
    result: async (task) => {
      const { status, content } = await engine.result(task);
      if (status !== "completed") throw new Error(`the root ${status}: ${JSON.stringify(content)}`);
      return AssignmentResult.parse(content);
    },
    events: (task) =>
      store
        .tree(idOf(task))
        .flatMap(({ id }) => store.eventsOf(id, 0, 100_000))
        .toSorted((a, b) => a.seq - b.seq)
        .map(({ task: of, type, body }) => ({ task: of, type, data: JSON.parse(body ?? "{}") })),
    waits: (task) =>
      store.waitsOf(idOf(task)).map(({ id, body }) => {
        const { ask } = JSON.parse(body);
        return {
          id: `ask_${ownSalt(store.salt)}_${id.toString(36)}`,
          question: ask?.question ?? "",
          kind: ask?.kind ?? "",
        };
      }),
    answer: async (id, value, kind = "person") => {
      const delivered = await engine.deliver(id, value, { kind, name: "ana" });
      if (delivered.outcome !== "accepted") throw new Error(JSON.stringify(delivered));
    },
    refuses: async (id, value) => {
      const delivered = await engine.deliver(id, value, { kind: "person", name: "ana" });
      if (delivered.outcome !== "invalid") throw new Error(JSON.stringify(delivered));
      return delivered.message;
    },
    close: async () => {
      await engine.stop();
      store.close();
    },
  };
}

/** Plays the manager: one assignment, whose result is its own. */
const parent: Runner = async (durable, config) => {
  const { rights } = durable;
  const input = {
    agent: { type: "named", agent_id: "coder" },
    message: userMessage(planned.prompt),
    tools: "*",
    context: "independent",
  };
  const [id] = await durable.spawn("task", [{ runner: { kind: "assignment", config }, agent: "coder", input, rights }]);
  const [result] = await durable.join(id === undefined ? [] : [id]);
  if (result?.status !== "completed") throw new Error(`the task ${result?.status}: ${JSON.stringify(result?.content)}`);
  return result.content;
};

function rootTask({ folder, rules, planned: changes, config = {} }: Delegated) {
  const task = { ...planned, ...changes };
  const handoff = makeHandoff({
    planned: task,
    goal: "Right totals.",
    predecessors: [],
    workspace: "a worktree",
    budget: {},
  });
  const checks = task.checks.map((check) => ({ check, named_by: "person" as const, is_criterion: true }));
  return {
    runner: { kind: "parent", config: { handoff, checks, ...config } },
    agent: "manager",
    input: {
      invocation: { targets: [], join: "all", context: "independent" },
      agents: { coder: { instructions: "Code." } },
      script: { rules },
      external_tools: [],
      roots: [folder],
    },
    rights: { tools: "*" as const, roots: [folder] },
  };
}
