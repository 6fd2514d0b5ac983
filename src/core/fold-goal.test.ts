import assert from "node:assert/strict";
import { describe, test } from "node:test";

import fc from "../../test/support/properties.ts";

import { defaultBudget } from "../protocol/task/budget.ts";
import type { Goal } from "../protocol/task/goal.ts";
import type { TaskEvent } from "../protocol/task/event.ts";
import type { StartedCheck } from "../protocol/task/started-check.ts";
import { emptyGoal, foldGoal, type GoalEvent, goalIn } from "./fold-goal.ts";
import { goalGate, goalProgress } from "./goal-gate.ts";
import { goalOfTask, taskOfGoal } from "./goal-id.ts";

const root = "tsk_root";

const created: Goal = {
  id: goalOfTask(root),
  task: root,
  text: "make it green",
  status: "pending",
  reason: "",
  acceptance: [
    { id: "c1", text: "npm test passes", from: "person", confirmed: true, state: "open", evidence: [] },
    { id: "c2", text: "it is fast", from: "model", confirmed: false, state: "open", evidence: [] },
  ],
  plan: [],
  links: [],
  notes: [],
  rounds: 0,
  policy: null,
  budget: defaultBudget,
  roots: ["/repo"],
  created_at: 1,
  updated_at: 1,
};

const planOf = (id: string, supersedes: string | null = null): Goal["plan"][number] => ({
  id,
  round: 1,
  prompt: "p",
  workdir: "/repo",
  kind: null,
  after: [],
  agent: null,
  runtime: null,
  model: null,
  checks: [],
  acceptance: [],
  conf: null,
  risks: [],
  assumptions: [],
  constraints: [],
  supersedes,
});

const creation: GoalEvent = { type: "goal.created", data: { goal: created } };
const planned = (...ids: string[]): GoalEvent => ({
  type: "goal.planned",
  data: { round: 1, tasks: ids.map((id) => planOf(id)), dropped: [] },
});
const linked = (task: string, plan: string): GoalEvent => ({ type: "goal.linked", data: { task, planned: plan } });
type LinkState = Goal["links"][number]["state"];
const moved = (
  task: string,
  state: LinkState,
  { by = null, evidence = state === "verified" ? ["evd_1"] : [] }: { by?: string | null; evidence?: string[] } = {},
): GoalEvent => ({
  type: "goal.link_changed",
  data: { task, state, superseded_by: by, evidence, reason: `it is ${state}` },
});
const judged = (id: string, state: "met" | "unmet" | "open", evidence = ["evd_1"]): GoalEvent => ({
  type: "goal.criterion_judged",
  data: { id, state, evidence, reason: "seen" },
});
const changed = (status: Goal["status"]): GoalEvent => ({ type: "goal.changed", data: { status, reason: status } });

function told(events: readonly GoalEvent[], task = root): TaskEvent[] {
  return events.map((event, at) => ({ seq: at + 1, at: at + 10, task, root, attempt: 1, ...event }));
}

function folded(...events: readonly GoalEvent[]): Goal {
  const goal = goalIn(told([creation, ...events]).reduce(foldGoal, emptyGoal(root)));
  assert.ok(goal !== undefined);
  return goal;
}

const finished = [moved("tsk_1", "verified"), judged("c1", "met"), judged("c2", "met")];

describe("a goal is folded from events", () => {
  test("its id follows from the manager's task and back", () => {
    assert.equal(goalOfTask("tsk_a.1"), "gol_a.1");
    assert.equal(taskOfGoal("gol_a.1"), "tsk_a.1");
  });

  test("a link makes it in progress, and progress is the share of verified links", () => {
    const goal = folded(planned("a", "b", "c"), linked("tsk_1", "a"), linked("tsk_2", "b"), linked("tsk_3", "c"));
    assert.deepEqual([goal.status, goal.rounds, goalProgress(goal)], ["in_progress", 1, 0]);
    const one = folded(
      planned("a", "b", "c"),
      linked("tsk_1", "a"),
      linked("tsk_2", "b"),
      linked("tsk_3", "c"),
      moved("tsk_1", "verified"),
    );
    assert.equal(goalProgress(one), 33);
  });

  test("a verified link is never downgraded, and a failed one is only ever replaced", () => {
    const goal = folded(
      planned("a", "b"),
      linked("tsk_1", "a"),
      linked("tsk_2", "b"),
      moved("tsk_1", "verified"),
      moved("tsk_1", "running"),
      moved("tsk_1", "failed"),
      moved("tsk_2", "failed"),
      moved("tsk_2", "verified"),
    );
    assert.deepEqual(
      goal.links.map(({ state }) => state),
      ["verified", "failed"],
    );
  });

  test("an ended goal does not open again, and no task is linked to it", () => {
    const goal = folded(planned("a"), linked("tsk_1", "a"), ...finished, changed("done"), changed("pending"));
    assert.equal(goal.status, "done");
    assert.equal(folded(changed("abandoned"), planned("a"), linked("tsk_1", "a")).links.length, 0);
  });

  test("done is not reached by saying so: without its gate the status stays", () => {
    assert.equal(folded(planned("a"), linked("tsk_1", "a"), changed("done")).status, "in_progress");
  });

  test("a run of a check is what a task is at, until something else happens to that task", () => {
    const check: StartedCheck = { argv: ["npm", "test"], on: "base", number: 1, of: 2, again: false };
    const place = { root, attempt: 1, at: 30 };
    const goal = told([creation, planned("a"), linked("tsk_1", "a")]).reduce(foldGoal, emptyGoal(root));
    foldGoal(goal, { ...place, seq: 10, task: "tsk_1", type: "check.started", data: check });
    foldGoal(goal, { ...place, seq: 11, task: root, type: "task.resumed", data: {} });
    const spent = { input_tokens: 1, output_tokens: 1, money_micro_usd: 0 };
    foldGoal(goal, { ...place, seq: 12, task: "tsk_1", type: "budget.settled", data: { key: "k", spent } });
    assert.deepEqual(goal.checking.get("tsk_1"), { started: check, since: 30 });
    foldGoal(goal, { ...place, seq: 13, task: "tsk_1", type: "task.resumed", data: {} });
    assert.equal(goal.checking.size, 0);
  });

  test("a child cannot tell events of the goal", () => {
    const goal = emptyGoal(root);
    for (const event of told([creation])) foldGoal(goal, event);
    for (const event of told([creation, changed("abandoned")], "tsk_child")) {
      foldGoal(goal, { ...event, seq: event.seq + 10 });
    }
    assert.equal(goalIn(goal)?.status, "pending");
  });

  test("a manager that was canceled leaves an abandoned goal, and its next attempt begins the goal anew", () => {
    const goal = emptyGoal(root);
    for (const event of told([creation, planned("a"), linked("tsk_1", "a")])) foldGoal(goal, event);
    foldGoal(goal, { seq: 10, at: 20, task: root, root, attempt: 2, ...creation });
    assert.deepEqual([goalIn(goal)?.plan, goalIn(goal)?.links], [[], []]);
    foldGoal(goal, { seq: 11, at: 21, task: root, root, type: "task.canceled", data: { reason: "enough" } });
    assert.deepEqual([goalIn(goal)?.status, goalIn(goal)?.reason], ["abandoned", "enough"]);
  });
});

describe("the gate says exactly what is missing", () => {
  test("close without all verified is rejected", () => {
    const goal = folded(planned("a", "b"), linked("tsk_1", "a"), moved("tsk_1", "failed"));
    assert.deepEqual(goalGate(goal).missing, [
      "task a (tsk_1) failed",
      "task b was planned and never launched",
      "criterion c1 is not proven: npm test passes",
      "criterion c2 is not proven: it is fast",
    ]);
  });

  test("no link at all keeps it closed", () => {
    assert.match(goalGate({ links: [], plan: [], acceptance: [] }).missing[0] ?? "", /no task was launched/);
  });

  test("the gate trusts evidence, not the state alone", () => {
    const goal = folded(
      planned("a"),
      linked("tsk_1", "a"),
      moved("tsk_1", "verified", { evidence: [] }),
      judged("c1", "met", []),
      judged("c2", "met"),
    );
    assert.deepEqual(goalGate(goal).missing, [
      "task a (tsk_1) is called verified, but nothing proves it",
      "criterion c1 is called met, but nothing proves it: npm test passes",
    ]);
  });

  test("a replaced task needs a named later one that is verified, through any number of rounds", () => {
    const rounds = [planned("a", "b"), linked("tsk_1", "a"), linked("tsk_2", "b")];
    const met = [judged("c1", "met"), judged("c2", "met")];
    const open = folded(...rounds, ...met, moved("tsk_1", "superseded", { by: "tsk_2" }), moved("tsk_2", "verified"));
    assert.ok(goalGate(open).open);
    const closed = folded(...rounds, ...met, moved("tsk_1", "superseded", { by: "tsk_2" }), moved("tsk_2", "failed"));
    assert.deepEqual(goalGate(closed).missing, [
      "task a (tsk_1) was replaced by b, which failed",
      "task b (tsk_2) failed",
    ]);
    const circle = folded(
      ...rounds,
      ...met,
      moved("tsk_1", "superseded", { by: "tsk_2" }),
      moved("tsk_2", "superseded", { by: "tsk_1" }),
    );
    assert.equal(goalGate(circle).missing.length, 2);
  });
});

const anyEvent: fc.Arbitrary<GoalEvent> = fc.oneof(
  fc.constantFrom(creation, planned("a", "b"), planned("b", "c")),
  fc
    .record({ task: fc.constantFrom("tsk_1", "tsk_2"), plan: fc.constantFrom("a", "b", "x") })
    .map((one) => linked(one.task, one.plan)),
  fc
    .record({
      task: fc.constantFrom("tsk_1", "tsk_2", "tsk_9"),
      state: fc.constantFrom<LinkState>("launched", "running", "verified", "failed", "superseded"),
      by: fc.constantFrom(null, "tsk_1", "tsk_2"),
      evidence: fc.constantFrom<string[]>([], ["evd_1"]),
    })
    .map(({ task, state, by, evidence }) => moved(task, state, { by, evidence })),
  fc
    .record({ id: fc.constantFrom("c1", "c2", "c9"), state: fc.constantFrom("met" as const, "unmet" as const) })
    .map((one) => judged(one.id, one.state)),
  fc.constantFrom(changed("done"), changed("blocked"), changed("in_progress"), changed("failed")),
);

test("done is only reached through the gate, verified stays, an end stays, and folding twice changes nothing", () => {
  fc.assert(
    fc.property(fc.array(anyEvent, { maxLength: 40 }), (events) => {
      const log = told([creation, ...events]);
      const goal = emptyGoal(root);
      const verified = new Set<string>();
      let ended: string | undefined;
      for (const event of log) {
        foldGoal(goal, event);
        const now = goalIn(goal);
        assert.ok(now !== undefined);
        if (now.status === "done") assert.ok(goalGate(now).open);
        if (ended !== undefined) assert.equal(now.status, ended);
        if (["done", "failed", "abandoned"].includes(now.status)) ended = now.status;
        for (const { task, state } of now.links) {
          if (verified.has(task)) assert.equal(state, "verified");
          if (state === "verified") verified.add(task);
        }
        assert.equal(now.acceptance[0]?.text, "npm test passes");
      }
      const once = goalIn(goal);
      for (const event of log) foldGoal(goal, event);
      assert.deepEqual(goalIn(goal), once);
    }),
    { numRuns: 500 },
  );
});
