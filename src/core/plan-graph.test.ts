import assert from "node:assert/strict";
import { describe, test } from "node:test";

import fc from "../../test/support/properties.ts";

import { TaskSpec } from "../protocol/decision/decision.ts";
import {
  addToGraph,
  emptyGraph,
  hasAllFailed,
  type PlanGraph,
  planRound,
  predecessorsOf,
  settleTask,
  takeReady,
  unfinishedTasks,
} from "./plan-graph.ts";

const bounds = { round: 1, roots: ["/repo"], most: 50, agents: ["coder"] };

function spec(id: string, more: object = {}): TaskSpec {
  return TaskSpec.parse({ id, workdir: "/repo", prompt: `do ${id}`, ...more });
}

function planned(graph: PlanGraph, specs: readonly TaskSpec[], round = 1): string[] {
  const { tasks } = planRound(graph, specs, { ...bounds, round });
  addToGraph(graph, tasks);
  return tasks.map(({ id }) => id);
}

const readyIds = (graph: PlanGraph): string[] => takeReady(graph, 100).map(({ id }) => id);

describe("a decision becomes planned tasks", () => {
  test("blank tasks are dropped and reported, and the others keep their fields", () => {
    const given = spec("a", { kind: "code_change", conf: 0.5, scope: "only src", checks: ["npm test"] });
    const { tasks, dropped } = planRound(emptyGraph(), [given, spec("b", { prompt: " " })], bounds);
    assert.deepEqual(dropped, [{ what: "tasks[1] (b)", reason: "prompt is blank" }]);
    assert.deepEqual(tasks.length, 1);
    assert.deepEqual(
      [tasks[0]?.kind, tasks[0]?.conf, tasks[0]?.constraints, tasks[0]?.checks],
      ["code_change", 0.5, ["only src"], ["npm test"]],
    );
  });

  test("a workdir outside the folders of the goal is dropped, a relative one begins at the first folder", () => {
    const { tasks, dropped } = planRound(
      emptyGraph(),
      ["/repo/../etc", "../x", "/repository", "sub/./dir", "/repo/"].map((workdir, at) => spec(`t${at}`, { workdir })),
      bounds,
    );
    assert.deepEqual(
      tasks.map(({ workdir }) => workdir),
      ["/repo/sub/dir", "/repo"],
    );
    assert.equal(dropped.length, 3);
    assert.match(dropped[0]?.reason ?? "", /outside the folders of the goal/);
  });

  test("a protected folder is no workdir: inside of it, names of files would not show that they are protected", () => {
    const folders = [".git/hooks", "sub/.vscode", ".claude", "/repo/x/.VSCode/", "vscode", ".github"];
    const { tasks, dropped } = planRound(
      emptyGraph(),
      folders.map((workdir, at) => spec(`t${at}`, { workdir })),
      bounds,
    );
    assert.deepEqual(
      tasks.map(({ workdir }) => workdir),
      ["/repo/vscode", "/repo/.github"],
    );
    assert.equal(dropped.length, 4);
    assert.match(dropped[0]?.reason ?? "", /^workdir \.git\/hooks is a protected folder/);
  });

  test("a cycle is dropped with what comes after it, and an unknown id costs only the edge", () => {
    const specs = [
      spec("a", { after: ["b"] }),
      spec("b", { after: ["a"] }),
      spec("c", { after: ["b"] }),
      spec("d", { after: ["nobody"] }),
    ];
    const { tasks, dropped } = planRound(emptyGraph(), specs, bounds);
    assert.deepEqual(
      tasks.map(({ id, after }) => [id, after]),
      [["d", []]],
    );
    assert.deepEqual(
      dropped.map(({ what }) => what),
      ["tasks[3].after", "tasks[0] (a)", "tasks[1] (b)", "tasks[2] (c)"],
    );
  });

  test("what comes after a task that was dropped is dropped too", () => {
    const { tasks, dropped } = planRound(
      emptyGraph(),
      [spec("a", { workdir: "/etc" }), spec("b", { after: ["a"] })],
      bounds,
    );
    assert.deepEqual(tasks, []);
    assert.match(dropped[1]?.reason ?? "", /comes after a, which was dropped/);
  });

  test("a goal has at most so many tasks over all rounds, and the rest is reported", () => {
    const graph = emptyGraph();
    addToGraph(graph, planRound(graph, [spec("a"), spec("b")], { ...bounds, most: 3 }).tasks);
    const { tasks, dropped } = planRound(graph, [spec("c"), spec("d")], { ...bounds, round: 2, most: 3 });
    assert.deepEqual(
      tasks.map(({ id }) => id),
      ["c"],
    );
    assert.match(dropped[0]?.reason ?? "", /may have 3 tasks/);
  });

  test("an unknown agent is not used, and the task stays", () => {
    const { tasks, dropped } = planRound(
      emptyGraph(),
      [spec("a", { agent: "coder" }), spec("b", { agent: "nobody" })],
      bounds,
    );
    assert.deepEqual(
      tasks.map(({ agent }) => agent),
      ["coder", null],
    );
    assert.deepEqual(dropped, [{ what: "tasks[1].agent", reason: "there is no agent nobody" }]);
  });

  test("an id that stands twice is told, and both tasks stay", () => {
    const graph = emptyGraph();
    assert.deepEqual(planned(graph, [spec("a"), spec("a")]), ["a", "a-2"]);
  });
});

describe("tasks are ready when what they come after is verified", () => {
  test("one after another", () => {
    const graph = emptyGraph();
    planned(graph, [spec("a"), spec("b", { after: ["a"] }), spec("c", { after: ["a", "b"] })]);
    assert.deepEqual(readyIds(graph), ["a"]);
    settleTask(graph, "a", "verified");
    assert.deepEqual(readyIds(graph), ["b"]);
    settleTask(graph, "b", "verified");
    const [last] = takeReady(graph, 1);
    assert.deepEqual(last === undefined ? [] : predecessorsOf(graph, last), ["a", "b"]);
  });

  test("a task that failed holds back what comes after it until a later task took its place", () => {
    const graph = emptyGraph();
    planned(graph, [spec("a"), spec("b", { after: ["a"] })]);
    readyIds(graph);
    settleTask(graph, "a", "failed");
    assert.deepEqual(readyIds(graph), []);
    assert.deepEqual(unfinishedTasks(graph, new Map([["a", "the check failed"]])), [
      { id: "a", reason: "the check failed" },
      { id: "b", reason: "it waits for a" },
    ]);
    assert.ok(hasAllFailed(graph));
    const { tasks } = planRound(graph, [spec("a")], { ...bounds, round: 2 });
    assert.deepEqual([tasks[0]?.id, tasks[0]?.supersedes], ["a-2", "a"]);
    addToGraph(graph, tasks);
    assert.deepEqual(readyIds(graph), ["a-2"]);
    settleTask(graph, "a-2", "verified");
    assert.deepEqual(readyIds(graph), ["b"]);
    settleTask(graph, "b", "verified");
    assert.deepEqual(unfinishedTasks(graph, new Map()), []);
    assert.ok(!hasAllFailed(graph));
  });

  test("a task that was never launched can be replaced, and a verified one is not", () => {
    const graph = emptyGraph();
    planned(graph, [spec("a"), spec("b"), spec("c", { after: ["b"] })]);
    readyIds(graph);
    settleTask(graph, "a", "verified");
    settleTask(graph, "b", "failed");
    const { tasks } = planRound(graph, [spec("a"), spec("c")], { ...bounds, round: 2 });
    assert.deepEqual(
      tasks.map(({ id, supersedes }) => [id, supersedes]),
      [
        ["a-2", null],
        ["c-2", "c"],
      ],
    );
    addToGraph(graph, tasks);
    assert.deepEqual(readyIds(graph), ["a-2", "c-2"]);
  });
});

const ids = fc.constantFrom("a", "b", "c", "d", "e", "");
const anySpec = fc.record({
  id: ids,
  workdir: fc.constantFrom("/repo", "/repo/x", "sub", "../up", "/etc", " "),
  prompt: fc.constantFrom("do it", "", "x"),
  after: fc.array(ids, { maxLength: 3 }),
});

test("round after round, ids are unique, every task can be launched once, and nothing is lost silently", () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(anySpec, { maxLength: 8 }), { minLength: 1, maxLength: 4 }),
      fc.infiniteStream(fc.boolean()),
      (rounds, luck) => {
        const graph = emptyGraph();
        const launched = new Set<string>();
        rounds.forEach((given, at) => {
          const specs = given.map((one) => TaskSpec.parse(one));
          const { tasks, dropped } = planRound(graph, specs, { ...bounds, most: 12, round: at + 1 });
          const whole = dropped.filter(({ what }) => !/\.(after|id)$/.test(what));
          assert.equal(tasks.length + whole.length, specs.length);
          for (const { id, workdir } of tasks) {
            assert.ok(!graph.nodes.has(id));
            assert.ok(workdir === "/repo" || workdir.startsWith("/repo/"));
          }
          addToGraph(graph, tasks);
          assert.ok(graph.nodes.size <= 12);
          for (let more = takeReady(graph, 2); more.length > 0; more = takeReady(graph, 2)) {
            for (const task of more) {
              assert.ok(!launched.has(task.id));
              launched.add(task.id);
              for (const id of task.after) {
                const origin = graph.nodes.get(id)?.origin ?? "";
                assert.ok(graph.lines.get(origin)?.verified === true || origin === graph.nodes.get(task.id)?.origin);
              }
              settleTask(graph, task.id, luck.next().value === true ? "verified" : "failed");
            }
          }
        });
        const waiting = [...graph.nodes.values()].filter(({ state }) => state === "waiting");
        if (graph.nodes.size > 0 && waiting.length === graph.nodes.size) assert.fail("nothing was ever launched");
      },
    ),
    { numRuns: 500 },
  );
});

test("when every task is verified, every planned task is launched", () => {
  fc.assert(
    fc.property(fc.array(anySpec, { maxLength: 10 }), (given) => {
      const graph = emptyGraph();
      const { tasks } = planRound(
        graph,
        given.map((one) => TaskSpec.parse(one)),
        bounds,
      );
      addToGraph(graph, tasks);
      const done: string[] = [];
      for (let [next] = takeReady(graph, 1); next !== undefined; [next] = takeReady(graph, 1)) {
        settleTask(graph, next.id, "verified");
        done.push(next.id);
      }
      assert.deepEqual(done.toSorted(), tasks.map(({ id }) => id).toSorted());
      assert.deepEqual(unfinishedTasks(graph, new Map()), []);
    }),
    { numRuns: 500 },
  );
});
