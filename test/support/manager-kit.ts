// What tests of the manager share: an engine with the manager, the rehearsal as its model, and stand-ins for what it is given.

import type { TestContext } from "node:test";

import { z } from "zod";

import { goalIn } from "../../src/core/fold-goal.ts";
import { goalOfTask } from "../../src/core/goal-id.ts";
import { emptyRecord, foldRecord, goalReport } from "../../src/core/make-report.ts";
import { readsOf } from "../../src/daemon/state/reader.ts";
import { systemClock } from "../../src/engine/clock.ts";
import { Engine } from "../../src/engine/engine.ts";
import type { AssignmentResult } from "../../src/protocol/task/assignment.ts";
import { managerRunner } from "../../src/manager/manager.ts";
import type { IntegrationResult, ManagerDeps } from "../../src/manager/manager-deps.ts";
import { rehearsalModel } from "../../src/model/rehearsal/rehearsal-model.ts";
import type { Durable } from "../../src/ports.ts";
import type { ListedGoal } from "../../src/protocol/api/goal-shapes.ts";
import { GoalFile } from "../../src/protocol/invocation/goal-file.ts";
import type { Evidence } from "../../src/protocol/task/evidence.ts";
import type { TaskEvent } from "../../src/protocol/task/event.ts";
import type { Goal } from "../../src/protocol/task/goal.ts";
import type { GoalReport } from "../../src/protocol/task/goal-report.ts";
import { askName } from "../../src/store/names.ts";
import type { Store } from "../../src/store/store.ts";
import { idOf } from "./agent-kit.ts";
import { openStoreIn, readsOfStoreIn } from "./stores.ts";
import { tempFolder } from "./temp-folder.ts";
import { until } from "./wait-until.ts";

/** What the stand-in of the assignment runner is given. */
export const ChildInput = z.object({ id: z.string(), prompt: z.string(), predecessors: z.array(z.string()) });
export type ChildInput = z.infer<typeof ChildInput>;

export type Child = (input: ChildInput, durable: Durable) => Promise<Partial<AssignmentResult>>;

export interface ManagerWorldOptions {
  /** Rules of the rehearsal that plays the manager. */
  readonly rules: readonly object[];
  /** What becomes of a task; verified when absent. */
  readonly child?: Child;
  readonly deps?: Partial<ManagerDeps>;
  readonly folder?: string;
}

export interface ManagerWorld {
  readonly engine: Engine;
  readonly store: Store;
  readonly folder: string;
  /** Starts a goal and returns its task. */
  start(goal: object | string, more?: object): Promise<string>;
  events(root: string): Promise<readonly TaskEvent[]>;
  report(root: string): Promise<GoalReport>;
  goal(root: string): Promise<Goal>;
  /** As lists show goals. */
  listed(): Promise<readonly ListedGoal[]>;
  /** Waits for the next open question of the goal and answers it. */
  answer(root: string, value: string | boolean, reason?: string): Promise<string>;
  /** The same with an answer that is not taken. Returns why. */
  refuses(root: string, value: string): Promise<string>;
  stop(): Promise<void>;
}

/** A fact that supports, as a check that Tutti ran would give it. */
export function checkEvidence(durable: Pick<Durable, "task" | "attempt">, id = "1"): Evidence {
  return {
    id: `evd_${durable.task.slice(4)}.${id}`,
    task: durable.task,
    attempt: durable.attempt,
    source: "tutti",
    commit: "c0ffee",
    tree: null,
    verdict: "supports",
    excerpt: "1 passed",
    criteria: [],
    fact: {
      kind: "check",
      argv: ["npm", "test"],
      cwd: "",
      named_by: "person",
      outcome: "passed",
      exit_code: 0,
      duration_ms: 1,
      output_tail: "",
      tests: null,
      on_base: null,
      changed_check_files: [],
      with_base_files: null,
      reason: "",
    },
    observed_at: 1,
  };
}

async function verified(_: ChildInput, durable: Durable): Promise<Partial<AssignmentResult>> {
  const evidence = checkEvidence(durable);
  durable.tell("evidence", { type: "evidence.added", data: { evidence } });
  return { evidence: [evidence.id] };
}

/** Every criterion is met by a check on the merged work. */
export async function metIntegration({
  goal,
  task,
}: Parameters<ManagerDeps["integrate"]>[0]): Promise<IntegrationResult> {
  const evidence = checkEvidence({ task, attempt: 1 }, "whole");
  return {
    kind: "checked",
    integration: { branch: "tutti/integration", commit: "c0ffee", tree: null },
    evidence: [evidence],
    criteria: goal.acceptance.map(({ id }) => ({
      id,
      state: "met",
      evidence: [evidence.id],
      reason: "npm test passed",
    })),
    failures: [],
    doubts: [],
    unsettled: [],
  };
}

export function delegate(tasks: readonly object[], more: object = {}): string {
  const complete = tasks.map((task) => ({ workdir: "/repo", prompt: "do it", conf: 0.9, ...task }));
  return JSON.stringify({ action: "delegate", tasks: complete, ...more });
}

export function openManagerWorld(options: ManagerWorldOptions & { readonly folder: string }): ManagerWorld {
  const { folder, child = verified, rules } = options;
  const store = openStoreIn(folder);
  const { view } = readsOfStoreIn(folder, store);
  const eventsOf = async (root: string): Promise<readonly TaskEvent[]> => {
    await store.committed();
    // Where events get their places after the commit, they have them now.
    await view.lastEvent();
    return readsOf(view, folder).events({ task: root, after: 0, limit: 1_000_000 });
  };
  const recordOf = async (root: string) => (await eventsOf(root)).reduce(foldRecord, emptyRecord(root));
  const reportOf = async (root: string): Promise<GoalReport> => {
    const report = goalReport(await recordOf(root));
    if (report === undefined) throw new Error(`${root} has no goal`);
    return report;
  };
  const deps: ManagerDeps = {
    model: () => rehearsalModel({ rules }),
    defaultModel: "rehearsal/script",
    settings: () => Promise.reject(new Error("these goals have their settings")),
    assign: ({ planned, predecessors }) => ({
      runner: { kind: "assignment", config: {} },
      agent: planned.id,
      input: { id: planned.id, prompt: planned.prompt, predecessors: predecessors.map((one) => one.planned.id) },
    }),
    route: () => ({ runner: "local", model: "rehearsal/script", reason: "matched build" }),
    integrate: metIntegration,
    ...options.deps,
  };
  const engine = new Engine({
    store,
    clock: systemClock,
    runners: {
      manager: managerRunner(deps),
      async assignment(durable) {
        const result = await child(ChildInput.parse(durable.input), durable);
        const whole = { kind: "assignment", claim: "done", state: "verified", reason: "npm test passed", evidence: [] };
        const places = { commit: null, tree: null, base: null, branch: null, workspace: null, criteria: [] };
        const handoff = { worker: "rehearsal/script", attempts: 1, hops: 1, retries: 0, revisions: 0 };
        return { ...whole, ...places, handoff, ...result };
      },
    },
  });
  const openQuestion = (root: string) =>
    store
      .waitsOf(idOf(root))
      .find((row) => store.answer(row.id) === undefined && JSON.parse(row.body).ask !== undefined);
  return {
    engine,
    store,
    folder,
    events: eventsOf,
    report: reportOf,
    async listed() {
      await store.committed();
      await view.lastEvent();
      return (await readsOf(view, folder).goals()).goals;
    },
    async start(goal, more = {}) {
      const request = typeof goal === "string" ? { text: goal } : goal;
      const input = GoalFile.parse({ goal: request, roots: ["/repo"], ...more });
      const budget = Object.fromEntries(Object.entries(input.budget ?? {}).filter(([, limit]) => limit !== undefined));
      const started = await engine.start({
        runner: { kind: "manager", config: {} },
        agent: "manager",
        input,
        rights: { tools: "*", roots: ["/repo"] },
        budget,
      });
      return started.task;
    },
    async goal(root) {
      const goal = goalIn((await recordOf(root)).goal);
      if (goal === undefined) throw new Error(`${goalOfTask(root)} was not created`);
      return goal;
    },
    async answer(root, value, reason) {
      const row = await until(() => openQuestion(root), "an open question");
      const { ask } = JSON.parse(row.body);
      const given =
        ask.kind === "approval"
          ? { kind: "approval", approved: value === true, ...(reason === undefined ? {} : { reason }) }
          : { kind: "question", value };
      const delivered = await engine.deliver(askName(store.salt, row.id), given, { kind: "person", name: "Ada" });
      if (delivered.outcome !== "accepted") throw new Error(JSON.stringify(delivered));
      return String(ask.question);
    },
    async refuses(root, value) {
      const row = await until(() => openQuestion(root), "an open question");
      const given = { kind: "question", value };
      const delivered = await engine.deliver(askName(store.salt, row.id), given, { kind: "person", name: "Ada" });
      if (delivered.outcome !== "invalid") throw new Error(JSON.stringify(delivered));
      return delivered.message;
    },
    async stop() {
      await engine.stop();
      view.close();
      store.close();
    },
  };
}

export async function managerWorld(t: TestContext, options: ManagerWorldOptions): Promise<ManagerWorld> {
  const world = openManagerWorld({ folder: tempFolder(t), ...options });
  t.after(() => world.stop());
  await world.engine.recover();
  return world;
}
