import assert from "node:assert/strict";
import { existsSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { z } from "zod";

import { type Kit, openKit } from "../../../../test/support/http-kit.ts";
import { goalOfTask } from "../../../core/goal-id.ts";
import { Board, FleetErrors, FleetSeries, FleetTasks, SearchPage } from "../../../protocol/api/insight-shapes.ts";
import { TuttiError } from "../../../protocol/error.ts";
import type { TaskId } from "../../../protocol/ids.ts";
import { Answer } from "../../../protocol/task/ask.ts";
import { Evidence } from "../../../protocol/task/evidence.ts";
import { defaultBudget } from "../../../protocol/task/budget.ts";

const said = "The <b>turbine</b> of Ångström\u0001 spins\u0002 quickly; \u001b[31mred\u001b[0m café";

let kit: Kit;
const tinkering = Promise.withResolvers<void>();
before(async () => {
  kit = await openKit({
    runners: {
      async loop(durable) {
        durable.say("m", { name: null, role: "assistant", parts: [{ part_type: "text", data: said }] });
        if (durable.agent === "fails") throw new TuttiError("unreachable", "the far side is silent");
        if (durable.agent === "tinkers") await tinkering.promise;
        if (durable.agent === "asks") {
          await durable.wait("ask", { ask: { kind: "approval", question: "May the zeppelin start?" }, schema: Answer });
        }
        await durable.step("s", { repeatable: true, schema: z.string() }, () => "x");
        return { verdict: "lighthouse" };
      },
      async manager(durable) {
        const task = durable.task;
        const goal = {
          id: goalOfTask(task),
          task,
          text: "Build the aqueduct",
          status: "in_progress" as const,
          reason: "",
          acceptance: [1, 2].map((n) => ({
            id: `c${n}`,
            text: `arch ${n} stands`,
            from: "person" as const,
            confirmed: true,
            state: "open" as const,
            evidence: [],
          })),
          plan: [],
          links: [],
          notes: [],
          rounds: 0,
          policy: null,
          budget: defaultBudget,
          roots: ["/projects/rome"],
          created_at: 1,
          updated_at: 1,
        };
        durable.tell("g1", { type: "goal.created", data: { goal } });
        const [child] = await durable.spawn("c", [
          { agent: "mason", runner: { kind: "loop", config: {} }, input: null, rights: { tools: "*", roots: [] } },
        ]);
        if (child === undefined) throw new Error("no child");
        durable.tell("g2", { type: "goal.linked", data: { task: child, planned: "arch" } });
        durable.tell("g3", {
          type: "goal.criterion_judged",
          data: { id: "c1", state: "met", evidence: [], reason: "seen" },
        });
        await durable.join([child]);
        const evidence = {
          id: `evd_${task.slice(4)}`,
          task: child,
          attempt: 1,
          source: "tutti",
          commit: null,
          tree: null,
          verdict: "supports" as const,
          excerpt: "the keystone holds",
          criteria: ["c1"],
          fact: { kind: "person" as const, by: "ann", text: "seen by me" },
          observed_at: 1,
        };
        durable.tell("e1", { type: "evidence.added", data: { evidence } });
        const verified = { task: child, state: "verified" as const, superseded_by: null, evidence: [], reason: "" };
        durable.tell("g4", { type: "goal.link_changed", data: verified });
        durable.tell("g5", { type: "goal.changed", data: { status: "done", reason: "all proven" } });
        return "done";
      },
    },
  });
});
after(() => kit.close());

async function read<T>(schema: z.ZodType<T>, path: string): Promise<T> {
  const { status, body, text } = await kit.call(path);
  assert.equal(status, 200, text);
  return schema.parse(body);
}
const search = (query: string) => read(SearchPage, `/v1/search?${query}`);
async function done(agent: string): Promise<TaskId> {
  const task = await kit.start({ agent });
  await kit.state.engine.result(task);
  return task;
}
async function goal(): Promise<TaskId> {
  const task = await kit.start({ agent: "manager", runner: { kind: "manager", config: {} } });
  const { status, content } = await kit.state.engine.result(task);
  assert.equal(status, "completed", JSON.stringify(content));
  return task;
}

test("nothing is indexed before somebody looks, and then everything is, in a file of the owner alone", async () => {
  const file = join(kit.folder, "insight.db");
  const task = await done("mason");
  assert.ok(!existsSync(file));
  const { hits, behind } = await search("q=turbine");
  assert.deepEqual([hits.map((hit) => hit.task), behind], [[task], 0]);
  assert.equal(statSync(file).mode & 0o777, 0o600);
});

test("words are found without their accents, the last one by its beginning, and a phrase only as a phrase", async () => {
  const task = await done("mason");
  for (const q of ["angstrom", "turbine spi", "CAFE", '"of angstrom"', "lighthouse", "mason"]) {
    const { hits } = await search(`q=${encodeURIComponent(q)}`);
    assert.equal(hits[0]?.task, task, q);
  }
  for (const q of ['"angstrom of"', "turbine nowhere", "turbin ", '"turbin"']) {
    assert.deepEqual((await search(`q=${encodeURIComponent(q)}`)).hits, [], q);
  }
});

test("what a query says is never read as the language of the index, and one without words is refused", async () => {
  for (const q of [
    "a OR b",
    "text:turbine",
    "NEAR(turbine spins)",
    "turbine*",
    '"',
    'x"y',
    "tags : kmessage",
    "-turbine",
    "^turbine",
    "{text}:x",
  ]) {
    const { status } = await kit.call(`/v1/search?q=${encodeURIComponent(q)}`);
    assert.ok(status === 200 || status === 422, `${q}: ${status}`);
  }
  assert.deepEqual((await search(`q=${encodeURIComponent("turbine OR nowhere")}`)).hits, []);
  assert.equal((await kit.call(`/v1/search?q=${encodeURIComponent('"--"')}`)).status, 422);
  assert.equal((await kit.call(`/v1/search?q=${"x".repeat(201)}`)).status, 422);
  assert.equal((await kit.call("/v1/search?q=x&limit=51")).status, 422);
});

test("an excerpt is plain pieces of text in which nothing of the text can mark a match", async () => {
  const { hits } = await search("q=spins&kind=message&limit=1");
  const pieces = hits[0]?.excerpt ?? [];
  assert.deepEqual(
    pieces.filter(({ match }) => match),
    [{ text: "spins", match: true }],
  );
  const text = pieces.map((piece) => piece.text).join("");
  assert.doesNotMatch(text, /[^\P{Cc}\n]/u);
  assert.match(text, /<b>turbine<\/b>/);
});

test("hits come newest first in pages, and can be limited to a kind and to a goal", async () => {
  const first = await goal();
  const second = await goal();
  const all: number[] = [];
  let cursor = "";
  for (let pages = 0; pages < 50; pages += 1) {
    const { hits, next } = await search(`q=turbine&limit=2${cursor}`);
    all.push(...hits.map(({ seq }) => seq));
    if (next === null) break;
    cursor = `&cursor=${next}`;
  }
  assert.ok(all.length >= 4);
  assert.deepEqual(
    all,
    [...new Set(all)].toSorted((a, b) => b - a),
  );
  const results = await search("q=lighthouse&kind=result");
  assert.ok(results.hits.length > 0 && results.hits.every(({ kind }) => kind === "result"));
  const inGoal = await search(`q=turbine&goal=${goalOfTask(first)}`);
  assert.deepEqual(
    inGoal.hits.map(({ root, goal: of }) => [root, of]),
    [[first, goalOfTask(first)]],
  );
  const goals = await search("q=aqueduct&kind=goal");
  assert.deepEqual(
    goals.hits.slice(0, 2).map(({ task }) => task),
    [second, first],
  );
  assert.equal((await kit.call("/v1/search?q=x&goal=gol_ffff_1")).status, 404);
});

test("the board has every goal with its progress, its criteria, its cost and what waits", async () => {
  const task = await goal();
  const { goals, folders, next } = await read(Board, "/v1/board?limit=1");
  assert.deepEqual(folders, ["/projects/rome"]);
  assert.equal(next, String(Number.parseInt(task.split("_")[2] ?? "", 36)));
  const { goals: older, folders: none } = await read(Board, `/v1/board?limit=1&cursor=${next}`);
  assert.notEqual(older[0]?.goal, goalOfTask(task));
  assert.deepEqual(none, []);
  assert.partialDeepStrictEqual(goals[0], {
    goal: goalOfTask(task),
    task,
    text: "Build the aqueduct",
    folder: "/projects/rome",
    status: "done",
    reason: "all proven",
    progress: 100,
    tasks: { planned: 0, launched: 1, running: 0, verified: 1, failed: 0 },
    criteria: { total: 2, met: 1, unmet: 0 },
    asks: 0,
  });
  assert.ok((goals[0]?.ended_at ?? 0) > 0);
  assert.deepEqual((await read(Board, "/v1/board?status=blocked")).goals, []);
  assert.ok((await read(Board, "/v1/board?status=done&folder=/projects/rome")).goals.length > 0);
  assert.deepEqual((await read(Board, "/v1/board?folder=/elsewhere")).goals, []);
});

test("a fact is read whole by its id, and an unknown one is not found", async () => {
  const task = await goal();
  const id = `evd_${task.slice(4)}`;
  const fact = await read(Evidence, `/v1/evidence/${id}`);
  assert.partialDeepStrictEqual(fact, {
    id,
    excerpt: "the keystone holds",
    fact: { kind: "person", text: "seen by me" },
  });
  assert.equal((await search("q=keystone&kind=evidence")).hits[0]?.root, task);
  assert.equal((await kit.call("/v1/evidence/evd_none_1")).status, 404);
});

test("the charts count what began, ended and failed, over every stretch of the window", async () => {
  const failed = await kit.start({ agent: "fails" });
  await kit.state.engine.result(failed);
  for (const [window, points] of [
    ["1h", 60],
    ["6h", 72],
    ["24h", 96],
    ["7d", 168],
    ["30d", 120],
  ] as const) {
    const series = await read(FleetSeries, `/v1/fleet/series?window=${window}`);
    assert.equal(series.points.length, points);
    assert.deepEqual(
      [series.points[0]?.at, (series.points.at(-1)?.at ?? 0) + series.bucket_ms],
      [series.from, series.to],
    );
    const sum = (name: "created" | "completed" | "failed") =>
      series.points.reduce((all, point) => all + point[name], 0);
    assert.ok(sum("created") >= 6 && sum("completed") >= 5 && sum("failed") === 1, window);
  }
  const { errors } = await read(FleetErrors, "/v1/fleet/errors?window=1h");
  assert.partialDeepStrictEqual(errors, [
    { code: "unreachable", count: 1, task: failed, agent: "fails", message: "the far side is silent" },
  ]);
  const slowest = await read(FleetTasks, "/v1/fleet/tasks?window=1h&limit=3");
  assert.equal(slowest.tasks.length, 3);
  assert.ok(slowest.tasks.every(({ ended_at }) => ended_at !== null));
  assert.deepEqual(
    slowest.tasks.map(({ ms }) => ms),
    slowest.tasks.map(({ ms }) => ms).toSorted((a, b) => b - a),
  );
  assert.equal((await kit.call("/v1/fleet/series?window=1y")).status, 422);
});

test("of tasks at work the quietest are listed, and one that waits for a person is none of them, but its question is found", async () => {
  const [task, busy] = [await kit.start({ agent: "asks" }), await kit.start({ agent: "tinkers" })];
  const works = async (): Promise<boolean> => (await kit.state.client.task(busy)).status === "running";
  for (let tries = 0; tries < 200 && !((await works()) && (await kit.state.view.openAsks()) > 0); tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  const { tasks } = await read(FleetTasks, "/v1/fleet/tasks?order=quietest");
  assert.partialDeepStrictEqual(tasks, [{ task: busy, status: "running", ended_at: null }]);
  assert.equal(tasks.length, 1);
  assert.equal((await search("q=zeppelin&kind=ask")).hits[0]?.task, task);
  tinkering.resolve();
  await kit.state.engine.result(busy);
  await kit.state.engine.cancel(task, "enough");
  assert.deepEqual((await read(FleetTasks, "/v1/fleet/tasks?order=quietest")).tasks, []);
});

test("an index that is damaged, or ahead of the events, is made again from the events", async () => {
  const own = await openKit({ runners: { loop: async () => "the ornithopter flew" } });
  try {
    await own.state.engine.result(await own.start({ agent: "a" }));
    writeFileSync(join(own.folder, "insight.db"), "this is no database ".repeat(500), { mode: 0o600 });
    const { body } = await own.call("/v1/search?q=ornithopter");
    assert.equal(SearchPage.parse(body).hits.length, 1);
  } finally {
    await own.close();
  }
});

test("the service can be stopped at any moment of the index's work", async () => {
  for (let round = 0; round < 8; round += 1) {
    const own = await openKit({ runners: { loop: async () => "done" } });
    const asked = round % 2 === 0 ? own.call("/v1/board") : undefined;
    await own.state.engine.result(await own.start({ agent: "a" }));
    const more = own.start({ agent: "b" });
    await asked;
    await more;
    if (round > 3) await own.call("/v1/board");
    await own.close();
  }
});

test("a caller without a key finds nothing, and a viewer may look", async () => {
  for (const path of ["/v1/search?q=x", "/v1/board", "/v1/fleet/series", "/v1/fleet/tasks", "/v1/fleet/errors"]) {
    assert.equal((await kit.call(path, { headers: { authorization: "" } })).status, 401);
    const { key } = await kit.keys.add({ name: "looks", role: "viewer" });
    const { status, text } = await kit.call(path, { headers: { authorization: `Bearer ${key}` } });
    assert.equal(status, 200, text);
  }
});
