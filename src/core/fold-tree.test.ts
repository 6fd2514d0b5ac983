import assert from "node:assert/strict";
import { describe, test } from "node:test";

import fc from "../../test/support/properties.ts";

import {
  agent,
  answered,
  completed,
  created,
  eventsOf,
  type Happening,
  question,
  raised,
  said,
  started,
  top,
} from "../../test/support/task-events.ts";
import type { TaskEvent } from "../protocol/task/event.ts";
import { isTerminal } from "../protocol/task/task-status.ts";
import { emptyTree, type FoldedTree, foldTree, isSettled } from "./fold-tree.ts";

const child = agent;
const foldAll = (events: readonly TaskEvent[]): FoldedTree => events.reduce(foldTree, emptyTree(top));
const fold = (...happenings: Happening[]): FoldedTree => foldAll(eventsOf(happenings));

describe("the tree", () => {
  test("has every task below its parent, with its agent, its status and its times", () => {
    const { tasks } = fold(created(top), started(top), created(child, top, { detached: true, agent: "helper" }));
    assert.deepEqual([...tasks.keys()], [top, child]);
    assert.deepEqual(tasks.get(child), {
      id: child,
      parent: top,
      root: top,
      depth: 1,
      agent: "helper",
      runner: "local",
      detached: true,
      status: "pending",
      attempt: 1,
      run: 1,
      created_at: 102,
      ended_at: null,
      steps: 0,
      tokens: 0,
      money_micro_usd: 0,
      result: null,
    });
    assert.equal(tasks.get(top)?.status, "running");
  });

  test("is settled only when the last task has ended, also when the top ended first", () => {
    const begun = [created(top), started(top), created(child, top, { detached: true }), completed(top, "early")];
    const open = fold(...begun);
    assert.equal(isSettled(open), false);
    assert.deepEqual(open.result, { content: "early", task_id: top, status: "completed" });
    const canceled: Happening = { task: child, type: "task.canceled", data: { reason: "not needed" } };
    const over = fold(...begun, canceled);
    assert.equal(isSettled(over), true);
    assert.equal(over.tasks.get(child)?.result, "not needed");
    assert.equal(over.tasks.get(child)?.ended_at, 104);
  });

  test("is not settled before its first event", () => {
    assert.equal(isSettled(emptyTree(top)), false);
  });

  test("a failure is a message in the view and a whole error in the result", () => {
    const error = { code: "io", message: "the disk is gone", retry: "unknown" };
    const failed = (data: object): Happening => ({ task: top, type: "task.failed", data });
    const without = fold(created(top), failed({ error }));
    assert.equal(without.tasks.get(top)?.result, "the disk is gone");
    assert.deepEqual(without.result, { content: error, task_id: top, status: "failed" });
    const half = fold(created(top), failed({ error, content: "half" }));
    assert.deepEqual([half.tasks.get(top)?.result, half.result?.content], ["the disk is gone", "half"]);
  });

  test("an event that does not fit the status of its task leaves the status as it is", () => {
    const early = fold(created(top), completed(top), { task: top, type: "task.resumed" });
    assert.equal(early.tasks.get(top)?.status, "pending");
    const twice = fold(created(top), started(top), completed(top, 1), completed(top, 2));
    assert.deepEqual([twice.unfinished, twice.result?.content, twice.tasks.get(top)?.ended_at], [0, 1, 102]);
  });

  test("a task is in the latest run of its latest attempt, whatever is recorded late of an earlier one", () => {
    const { tasks } = fold(
      created(top),
      started(top),
      { task: top, type: "run.started", data: { agent: "a" }, attempt: 2 },
      { task: top, type: "step.finished", data: { key: "a", outcome: "ok", tokens: 1, money_micro_usd: 0 }, run: 3 },
    );
    assert.deepEqual([tasks.get(top)?.attempt, tasks.get(top)?.run], [2, 1]);
  });

  test("an event of a task whose beginning was not seen is passed over", () => {
    const tree = fold(created(top), completed(child), raised);
    assert.deepEqual([...tree.tasks.keys()], [top]);
    assert.equal(tree.open.size, 0);
  });
});

describe("what a tree used", () => {
  test("steps count once, whether they end in a message or not, and what a cut-off call used counts too", () => {
    const spent = { input_tokens: 5, output_tokens: 2, money_micro_usd: 30 };
    const tree = fold(
      created(top),
      created(child, top),
      { task: top, type: "step.finished", data: { key: "a", outcome: "failed", tokens: 10, money_micro_usd: 100 } },
      said(child, { step: { key: "b", tokens: 20, money_micro_usd: 200 } }),
      said(child, {}),
      { task: child, type: "budget.settled", data: { key: "c", spent } },
    );
    const figures = [...tree.tasks.values()].map(({ steps, tokens, money_micro_usd }) => [
      steps,
      tokens,
      money_micro_usd,
    ]);
    assert.deepEqual(figures, [
      [1, 10, 100],
      [1, 27, 230],
    ]);
    assert.deepEqual([tree.tokens, tree.money_micro_usd, tree.unpriced, tree.rehearsal], [37, 330, false, false]);
  });

  test("a reply from a script and a call of unknown price are noted", () => {
    assert.equal(fold(created(top), said(top, { name: "rehearsal" })).rehearsal, true);
    assert.equal(
      fold(created(top), said(top, { step: { key: "a", tokens: 1, money_micro_usd: null } })).unpriced,
      true,
    );
    const spent = { input_tokens: 1, output_tokens: 0, money_micro_usd: null };
    assert.equal(fold(created(top), { task: top, type: "budget.settled", data: { key: "a", spent } }).unpriced, true);
  });
});

describe("what is asked", () => {
  const begun = [created(top), created(child, top)];
  const opened = (label: string): Happening => ({
    task: child,
    type: "wait.opened",
    data: { wait: "ask_2", label, call: { tool_name: "weather", input: 1 }, deadline: 9 },
  });

  test("a question is open until it is answered, expires or is withdrawn, and again when it is reopened", () => {
    assert.deepEqual([...fold(...begun, raised).open.keys()], ["ask_1"]);
    assert.equal(fold(...begun, raised, answered).open.size, 0);
    for (const [type, data] of [
      ["ask.expired", { ask: "ask_1", meaning: "no_answer" }],
      ["ask.withdrawn", { ask: "ask_1" }],
    ] as const)
      assert.equal(fold(...begun, raised, { task: child, type, data }).open.size, 0, type);
    const reopened: Happening = { task: child, type: "ask.reopened", data: { ask: "ask_1", reason: "not a colour" } };
    const again = fold(...begun, raised, answered, reopened);
    assert.deepEqual([...again.open.values()], [question]);
  });

  test("a wait for a client's tool is open with its call; a request to an operator is not shown", () => {
    const call = { tool_name: "weather", input: 1 };
    assert.deepEqual(
      [...fold(...begun, opened("result of weather")).open.values()],
      [{ id: "ask_2", task: child, root: top, label: "result of weather", call, deadline: 9 }],
    );
    assert.equal(fold(...begun, opened("operator.spawn")).open.size, 0);
    const settled: Happening = { task: child, type: "wait.settled", data: { wait: "ask_2", outcome: "answered" } };
    assert.equal(fold(...begun, opened("x"), settled).open.size, 0);
    const reopened: Happening = { task: child, type: "wait.reopened", data: { wait: "ask_2", reason: "no" } };
    assert.equal(fold(...begun, opened("x"), settled, reopened).open.size, 1);
  });
});

describe("any history", () => {
  const ids = [top, child, "tsk_s_3", "tsk_s_4"] as const;
  const happening: fc.Arbitrary<Happening> = fc
    .tuple(
      fc.constantFrom(...ids),
      fc.constantFrom("started", "input", "resumed", "handed", "completed", "failed", "canceled", "step", "said"),
      fc.nat(50),
    )
    .map(([task, what, many]) => {
      const error = { code: "io", message: "broken", retry: "never" };
      const step = { key: "k", tokens: many, money_micro_usd: many * 2 };
      const table: Record<typeof what, Happening> = {
        started: started(task),
        input: { task, type: "task.input_required", data: { ask: "ask_1" } },
        resumed: { task, type: "task.resumed" },
        handed: { task, type: "task.handed_over", data: { from_agent: "a", to_agent: "b", hop: 1 } },
        completed: completed(task, many),
        failed: { task, type: "task.failed", data: { error } },
        canceled: { task, type: "task.canceled", data: { reason: "r" } },
        step: { task, type: "step.finished", data: { ...step, outcome: "ok" } },
        said: said(task, { step }),
      };
      return table[what];
    });
  const history = fc
    .array(happening, { maxLength: 60 })
    .map((rest) => eventsOf([...ids.map((id) => created(id, id === top ? null : top)), ...rest]));

  test("invariant 2: the first end of a task counts, and the tree is settled exactly when every task has one", () => {
    fc.assert(
      fc.property(history, (events) => {
        const tree = emptyTree(top);
        const ended = new Map<string, string>();
        for (const event of events) {
          const was = tree.tasks.get(event.task)?.status;
          foldTree(tree, event);
          const { status } = tree.tasks.get(event.task) ?? assert.fail("the task is in the tree");
          if (was !== undefined && isTerminal(was)) assert.equal(status, was);
          if (isTerminal(status) && !ended.has(event.task)) ended.set(event.task, status);
          assert.equal(tree.unfinished, tree.tasks.size - ended.size);
          assert.equal(tree.result?.status, ended.get(top));
          assert.equal(isSettled(tree), tree.tasks.size > 0 && ended.size === tree.tasks.size);
        }
      }),
      { numRuns: 300 },
    );
  });

  test("invariant 9: events that are told twice, or begun again from any point, change nothing", () => {
    fc.assert(
      fc.property(history, fc.nat(60), fc.nat(60), (events, back, on) => {
        const at = Math.min(on, events.length);
        const again = [...events.slice(0, at), ...events.slice(Math.max(0, at - back))];
        assert.deepEqual(foldAll(again), foldAll(events));
      }),
      { numRuns: 300 },
    );
  });

  test("the totals are the sums over the tasks, and over the events", () => {
    fc.assert(
      fc.property(history, (events) => {
        const tree = foldAll(events);
        const tasks = [...tree.tasks.values()];
        const sum = (numbers: readonly number[]): number => numbers.reduce((all, each) => all + each, 0);
        const used = events.flatMap(({ type, data }) => {
          if (type === "step.finished") return [data.tokens];
          return type === "message.added" && data.step !== undefined ? [data.step.tokens] : [];
        });
        assert.equal(tree.tokens, sum(tasks.map(({ tokens }) => tokens)));
        assert.equal(tree.money_micro_usd, sum(tasks.map(({ money_micro_usd }) => money_micro_usd)));
        assert.deepEqual([tree.tokens, sum(tasks.map(({ steps }) => steps))], [sum(used), used.length]);
      }),
      { numRuns: 300 },
    );
  });
});
