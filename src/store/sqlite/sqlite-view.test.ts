import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "../../../test/support/properties.ts";

import { taskRow as row } from "../../../test/support/task-row.ts";
import {
  answer,
  anything,
  ask,
  type Loops,
  openWaits,
  person,
  started,
  task,
  text,
  world,
} from "../../../test/support/engine-kit.ts";
import { settle } from "../../../test/support/settle.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { idInName } from "../names.ts";
import { userMessage } from "../../protocol/task/message.ts";
import { TaskStatus } from "../../protocol/task/task-status.ts";
import type { Page, Rows, TaskListing } from "../view.ts";
import { openStore } from "./sqlite-store.ts";
import { openView } from "./sqlite-view.ts";

const once = { repeatable: true, schema: text } as const;

test("tasks are found by status, agent, runner and parent, newest first, whichever conditions are put together", async (t) => {
  const folder = tempFolder(t);
  const store = openStore(folder);
  t.after(() => store.close());
  const view = openView(folder);
  t.after(() => view.close());
  const made: { id: number; status: TaskStatus; agent: string; runner: string; parent: number | null }[] = [];
  const add = (status: TaskStatus, agent: string, runner: string, parent: number | null): void => {
    const root = parent === null ? null : 1;
    const id = store.addTask({ ...row, agent, kind: runner, parent, root, depth: parent === null ? 0 : 1 });
    const run = store.addRun({ task: id, attempt: 1, run: 1, body: null });
    if (status === "running" || status === "input_required") store.setStatus(id, status);
    if (status === "input_required") {
      const ask = { ask: "question", body: '{"ask":{}}' } as const;
      store.addWait({ task: id, root: root ?? id, run, key: "w", raised_at: 1, due: 9, ...ask });
    }
    if (status === "completed" || status === "failed" || status === "canceled") {
      store.addResult({ task: id, status, at: 2, body: "{}" });
    }
    made.push({ id, status, agent, runner, parent });
  };
  const statuses = TaskStatus.options;
  for (let index = 0; index < 60; index += 1) {
    const status = statuses[(index * 5) % statuses.length] ?? "pending";
    add(status, index % 4 === 0 ? "rare" : "usual", index % 3 === 0 ? "command" : "loop", index % 5 === 0 ? null : 1);
  }
  await store.committed();
  await fc.assert(
    fc.asyncProperty(
      fc.record(
        {
          limit: fc.integer({ min: 1, max: 70 }),
          after: fc.integer({ min: 1, max: 61 }),
          status: fc.constantFrom(...statuses),
          agent: fc.constantFrom("rare", "usual", "nobody"),
          runner: fc.constantFrom("command", "loop"),
          parent: fc.constantFrom(1, 2),
          roots: fc.boolean(),
        },
        { requiredKeys: ["limit"] },
      ),
      async (filter) => {
        const { limit, after = Number.POSITIVE_INFINITY, status, agent, runner, parent, roots } = filter;
        const wanted = made
          .filter((each) => each.id < after && (status === undefined || each.status === status))
          .filter((each) => agent === undefined || each.agent === agent)
          .filter((each) => runner === undefined || each.runner === runner)
          .filter((each) => parent === undefined || each.parent === parent)
          .filter((each) => roots !== true || each.parent === null)
          .toReversed()
          .slice(0, limit);
        assert.deepEqual(
          (await view.tasks(filter)).rows.map(({ id, status: found }) => [id, found]),
          wanted.map((each) => [each.id, each.status]),
        );
      },
    ),
    { numRuns: 200 },
  );
});

test("pages of tasks neither miss nor repeat one while tasks are added and ended between them", async (t) => {
  const folder = tempFolder(t);
  const store = openStore(folder);
  t.after(() => store.close());
  const view = openView(folder);
  t.after(() => view.close());
  const add = (): number => {
    const id = store.addTask(row);
    store.addRun({ task: id, attempt: 1, run: 1, body: null });
    return id;
  };
  const there = Array.from({ length: 25 }, add);
  await store.committed();
  const found: number[] = [];
  let page: TaskListing[] = (await view.tasks({ limit: 4 })).rows;
  for (let turn = 0; page.length > 0 && turn < 20; turn += 1) {
    found.push(...page.map((each) => each.id));
    add();
    store.addResult({ task: there[turn] ?? 0, status: "completed", at: 1, body: "{}" });
    await store.committed();
    page = (await view.tasks({ limit: 4, after: found.at(-1) ?? 0 })).rows;
  }
  assert.deepEqual(found, there.toReversed());
});

const loops: Loops = {
  parent: async (d) => {
    d.say("hello", userMessage("parent speaks"));
    const ids = await d.spawn("kids", [task("kid"), task("kid")]);
    await d.wait("which", { ask, schema: anything });
    return d.join(ids);
  },
  kid: async (d) => {
    for (let turn = 0; turn < 4; turn += 1) {
      await d.step(`s${turn}`, { ...once, spent: () => usage(turn) }, () => `${turn}`);
      d.say(`m${turn}`, userMessage(`turn ${turn}`));
      await d.now(`t${turn}`);
    }
    return d.attempt === 1 ? d.again("again", { reason: "once more" }) : "done";
  },
};
const usage = (turn: number) => ({ input_tokens: turn, output_tokens: 1, money_micro_usd: 2 });

test("a task is listed with its place, its status and what it has used in all its attempts", async (t) => {
  const w = world(tempFolder(t), loops);
  t.after(() => w.stop());
  const name = await started(w, "parent");
  await settle();
  const view = openView(w.folder);
  t.after(() => view.close());
  const id = idInName(view.salt, name) ?? 0;
  const [, kid] = (await view.tree(id, { after: 0, limit: 9 })).rows;
  assert.deepEqual(
    [(await view.task(id))?.status, kid?.status, kid?.attempt, kid?.run, kid?.steps, kid?.tokens, kid?.money],
    ["input_required", "completed", 2, 1, 8, 20, 16],
  );
  assert.deepEqual(
    [await view.unfinished(id), await view.task(999), await view.place(id), await view.openAsks()],
    [1, undefined, { id, root: id, status: "input_required" }, 1],
  );
  const waitAt = (attempt: number, key: string) => w.store.waitAt(id, attempt, key);
  const wait = waitAt(1, "which");
  assert.deepEqual([wait?.task, waitAt(2, "which"), waitAt(1, "other")], [id, undefined, undefined]);
  await w.engine.deliver(openWaits(w)[0] ?? "", answer("x"), person);
  await w.engine.result(name);
  assert.deepEqual(
    [(await view.task(id))?.status, await view.unfinished(id), await view.openAsks()],
    ["completed", 0, 0],
  );
});

test("invariant 9: events, steps and messages read in pages of any size are the same as read at once", async (t) => {
  const w = world(tempFolder(t), loops);
  t.after(() => w.stop());
  const names = [await started(w, "parent"), await started(w, "parent")];
  await settle();
  const view = openView(w.folder);
  t.after(() => view.close());
  const [first = 0] = names.map((name) => idInName(view.salt, name) ?? 0);
  const kid = (await view.below(first))[1]?.id ?? 0;
  const inPages = async (
    read: (page: Page) => Promise<Rows<{ seq: number }>>,
    limits: Omit<Page, "after">,
  ): Promise<number[]> => {
    const ids: number[] = [];
    for (let turn = 0; turn < 1_000; turn += 1) {
      const { rows, more } = await read({ after: ids.at(-1) ?? 0, ...limits });
      ids.push(...rows.map((each) => each.seq));
      assert.ok(rows.length <= limits.limit && (rows.length > 0 || !more));
      if (!more) return ids;
    }
    throw new Error("the pages do not end");
  };
  const stored = w.store.eventsAfter(0, 10_000);
  const below = new Set((await view.below(first)).map((each) => each.id));
  const reads = {
    all: (page: Page) => view.eventsAfter(page),
    tree: (page: Page) => view.events(first, page),
    steps: (page: Page) => view.steps(kid, page),
    messages: (page: Page) => view.messages(kid, page),
  };
  const wanted = {
    all: stored,
    tree: stored.filter((event) => below.has(event.task)),
    steps: stored.filter((event) => event.task === kid && event.kind === "ok"),
    messages: stored.filter((event) => event.task === kid && event.type === "message.added"),
  };
  for (const name of ["all", "tree", "steps", "messages"] as const) {
    assert.deepEqual(
      (await reads[name]({ after: 0, limit: 10_000 })).rows.map((event) => event.seq),
      wanted[name].map((event) => event.seq),
      name,
    );
    for (const limits of [{ limit: 1 }, { limit: 2 }, { limit: 7 }, { limit: 99, maxLength: 300 }]) {
      assert.deepEqual(
        await inPages(reads[name], limits),
        wanted[name].map((event) => event.seq),
        `${name} by ${JSON.stringify(limits)}`,
      );
    }
  }
  const own = stored.filter((event) => event.task === kid);
  for (const limits of [{ limit: 1 }, { limit: 3 }, { limit: 99, maxLength: 300 }]) {
    for (const types of [undefined, ["message.added", "run.started"] as const]) {
      const seqs: number[] = [];
      for (let more = true, turn = 0; more && turn < 1_000; turn += 1) {
        const page = await view.recentEvents(kid, { ...limits, types, before: seqs[0] });
        seqs.unshift(...page.rows.map(({ seq }) => seq));
        more = page.more;
      }
      const named: readonly string[] | undefined = types;
      assert.deepEqual(
        seqs,
        own.filter(({ type }) => named?.includes(type) !== false).map(({ seq }) => seq),
        `back by ${JSON.stringify({ limits, types })}`,
      );
    }
  }
  assert.deepEqual([wanted.steps.length, wanted.messages.length, await view.lastEvent()], [8, 8, stored.at(-1)?.seq]);
});
