import assert from "node:assert/strict";
import { after, test } from "node:test";

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
  type World,
} from "../../../test/support/engine-kit.ts";
import { postgresPrograms } from "../../../test/support/postgres-server.ts";
import { settle } from "../../../test/support/settle.ts";
import { databaseOf, sharedServer } from "../../../test/support/stores.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { until } from "../../../test/support/wait-until.ts";
import { userMessage } from "../../protocol/task/message.ts";
import { TaskStatus } from "../../protocol/task/task-status.ts";
import { idInName } from "../names.ts";
import { openView } from "../sqlite/sqlite-view.ts";
import type { Page, Rows, StoreView } from "../view.ts";
import { connectTo } from "./database-connection.ts";
import { openPostgresView } from "./postgres-view.ts";

process.env["TUTTI_STORE"] = "postgres";
const skip = postgresPrograms() === undefined ? "PostgreSQL is not installed" : false;
after(() => {
  if (skip === false) sharedServer().stop();
});

const once = { repeatable: true, schema: text } as const;
const usage = (turn: number) => ({ input_tokens: turn, output_tokens: 1, money_micro_usd: 2 });
const loops: Loops = {
  parent: async (d) => {
    d.say("hello", userMessage("parent speaks"));
    const ids = await d.spawn("kids", [task("kid"), task("kid"), task("fails")]);
    await d.wait("which", { ask, schema: anything });
    await d.join(ids);
    return "x".repeat(5_000);
  },
  kid: async (d) => {
    for (let turn = 0; turn < 4; turn += 1) {
      await d.step(`s${turn}`, { ...once, spent: () => usage(turn) }, () => `${turn}`);
      d.say(`m${turn}`, userMessage(`turn ${turn} with \0 and more`));
      await d.now(`t${turn}`);
    }
    return d.attempt === 1 ? d.again("again", { reason: "once more" }) : "done";
  },
  fails: async () => {
    throw new Error("broken");
  },
  waits: async (d) => [await d.wait("tool", { label: "weather", details: { city: "Oslo" }, schema: anything })],
};

interface Scene {
  readonly w: World;
  readonly roots: readonly number[];
  readonly shared: StoreView;
  /** Of the copy of the same rows that the node has. */
  readonly local: StoreView;
}

async function scene(t: Parameters<typeof tempFolder>[0]): Promise<Scene> {
  const w = world(tempFolder(t), loops);
  t.after(() => w.stop());
  const names = [];
  for (const agent of ["parent", "parent", "waits", "parent"]) names.push(await started(w, agent));
  await settle();
  await w.engine.deliver(openWaits(w)[0] ?? "", answer("x"), person);
  await w.engine.result(names[0] ?? "");
  await w.engine.cancel(names[3] ?? "", "not needed");
  await settle();
  const shared = openPostgresView(databaseOf(w.folder), w.store.salt);
  t.after(() => shared.close());
  const local = openView(w.folder);
  t.after(() => local.close());
  const count = w.store.eventsAfter(0, 100_000).length;
  await until(async () => (await shared.lastEvent()) === count, "every event has its place");
  return { w, shared, local, roots: names.map((name) => idInName(w.store.salt, name) ?? 0) };
}

const withoutSeq = (rows: readonly { readonly seq: number }[]) => rows.map((event) => ({ ...event, seq: 0 }));
const all = { after: 0, limit: 10_000 };

/** The sequences of all events, read from the newest back. */
async function everyPageBack(
  read: (before: number | undefined) => Promise<Rows<{ readonly seq: number }>>,
): Promise<number[]> {
  const seqs: number[] = [];
  for (let more = true, rounds = 0; more && rounds < 1_000; rounds += 1) {
    const page = await read(seqs[0]);
    seqs.unshift(...page.rows.map(({ seq }) => seq));
    more = page.more;
  }
  return seqs;
}

test("any node sees of every tree what its owner sees", { skip }, async (t) => {
  const { w, roots, shared, local } = await scene(t);
  for (const root of roots) {
    const ids = (await local.below(root)).map(({ id }) => id);
    assert.deepEqual(await shared.below(root), await local.below(root));
    assert.deepEqual(await shared.tree(root, all), await local.tree(root, all));
    assert.deepEqual(
      await shared.tree(root, { after: root, limit: 1 }),
      await local.tree(root, { after: root, limit: 1 }),
    );
    assert.deepEqual(
      [await shared.treeOf(root), await shared.unfinished(root), await shared.treeLimits(root)],
      [await local.treeOf(root), await local.unfinished(root), await local.treeLimits(root)],
    );
    assert.deepEqual(
      withoutSeq((await shared.events(root, all)).rows),
      withoutSeq((await local.events(root, all)).rows),
    );
    for (const id of ids) {
      for (const read of ["task", "place", "taskRow", "result", "request"] as const) {
        assert.deepEqual(await shared[read](id), await local[read](id), `${read} of ${id}`);
      }
      for (const read of ["steps", "messages", "events"] as const) {
        const [here, there] = [await local[read](id, all), await shared[read](id, all)];
        assert.deepEqual(withoutSeq(there.rows), withoutSeq(here.rows), `${read} of ${id}`);
      }
      const limits = { limit: 3 };
      assert.deepEqual(
        withoutSeq((await shared.recentEvents(id, limits)).rows),
        withoutSeq((await local.events(id, all)).rows.filter((event) => event.task === id).slice(-3)),
      );
      assert.deepEqual(
        await everyPageBack((before) => shared.recentEvents(id, { limit: 2, before })),
        (await shared.events(id, all)).rows.filter((event) => event.task === id).map(({ seq }) => seq),
      );
      assert.deepEqual(await shared.usedBelow(id), await local.usedBelow(id));
    }
  }
  assert.deepEqual([await shared.task(999), await shared.openAsks()], [undefined, await local.openAsks()]);
  for (const asks of [true, false]) {
    assert.deepEqual(await shared.openWaits({ ...all, asks }), await local.openWaits({ ...all, asks }));
    const below = { ...all, asks, below: roots[1] ?? 0 };
    assert.deepEqual(await shared.openWaits(below), await local.openWaits(below));
  }
  const [open] = (await shared.openWaits({ ...all, asks: true })).rows;
  assert.deepEqual(await shared.openWait(open?.id ?? 0), await local.openWait(open?.id ?? 0));
  for (const status of [undefined, ...TaskStatus.options]) {
    for (const more of [{}, { agent: "kid" }, { roots: true }, { parent: roots[0] ?? 0 }, { runner: "loop" }]) {
      const filter = { limit: 100, ...more, ...(status === undefined ? {} : { status }) };
      assert.deepEqual(await shared.tasks(filter), await local.tasks(filter), JSON.stringify(filter));
    }
  }
  const thread = w.store.addThread({
    name: "plans",
    project: "p",
    kind: "agent",
    created_at: 1,
    said_at: 1,
    forked_from: null,
  });
  for (const [at, root] of roots.entries()) {
    // As two nodes that speak at once: the second finds its position taken.
    w.store.addThreadEntry({ thread, position: Math.min(at + 1, 3), task: root, until: null }, at + 5);
  }
  await w.store.committed();
  assert.deepEqual(
    [(await shared.threadListing(thread))?.entries, w.store.lastThreadEntry(thread)?.task],
    [4, roots[3]],
  );
  assert.deepEqual(await shared.threadListing(thread), await local.threadListing(thread));
  assert.deepEqual(await shared.threads({ limit: 5, project: "p" }), await local.threads({ limit: 5, project: "p" }));
  assert.deepEqual(await shared.threadOfTask(roots[1] ?? 0), await local.threadOfTask(roots[1] ?? 0));
  const [later, earlier] = [
    { after: 1, limit: 2 },
    { before: 4, limit: 2 },
  ];
  assert.deepEqual(await shared.threadEntries(thread, later), await local.threadEntries(thread, later));
  assert.deepEqual(await shared.threadEntriesBefore(thread, earlier), await local.threadEntriesBefore(thread, earlier));
  assert.deepEqual(await shared.tasks({ limit: 9, sessions: true }), await local.tasks({ limit: 9, sessions: true }));
});

test("a question that PostgreSQL cannot read neither hides the others nor fails their list", { skip }, async (t) => {
  let deep: unknown = "deep";
  for (let level = 0; level < 3_000; level += 1) deep = [deep];
  const asks: Loops = {
    nul: (d) => d.wait("q", { ask: { kind: "question", question: "a\0b?" }, schema: anything }),
    deep: (d) => d.wait("q", { ask: { kind: "question", question: "deep?", details: { deep } }, schema: anything }),
    plain: (d) => d.wait("q", { ask, schema: anything }),
  };
  const w = world(tempFolder(t), asks);
  t.after(() => w.stop());
  for (const agent of ["nul", "deep", "plain"]) await started(w, agent);
  await settle();
  const shared = openPostgresView(databaseOf(w.folder), w.store.salt);
  t.after(() => shared.close());
  const { rows } = await shared.openWaits({ ...all, asks: true });
  assert.deepEqual([rows.length, rows[0]?.question, rows[2]?.question], [3, "a\ufffdb?", "which?"]);
});

test(
  "invariant 9: the one sequence has no gaps, keeps the order of each tree, and is the same in pages of any size",
  { skip },
  async (t) => {
    const { roots, shared, local } = await scene(t);
    const { rows } = await shared.eventsAfter(all);
    assert.deepEqual(
      rows.map(({ seq }) => seq),
      rows.map((_, at) => at + 1),
    );
    for (const root of roots) {
      const own = rows.filter((event) => event.root === root);
      assert.deepEqual(withoutSeq(own), withoutSeq((await local.events(root, all)).rows));
    }
    const inPages = async (read: (page: Page) => Promise<Rows<{ seq: number }>>, limits: Omit<Page, "after">) => {
      const found: number[] = [];
      for (let turn = 0; turn < 1_000; turn += 1) {
        const page = await read({ after: found.at(-1) ?? 0, ...limits });
        found.push(...page.rows.map((each) => each.seq));
        if (!page.more) return found;
      }
      throw new Error("the pages do not end");
    };
    const tree = (page: Page) => shared.events(roots[1] ?? 0, page);
    for (const read of [(page: Page) => shared.eventsAfter(page), tree]) {
      const wanted = (await read(all)).rows.map(({ seq }) => seq);
      for (const limits of [{ limit: 1 }, { limit: 7 }, { limit: 99, maxLength: 300 }]) {
        assert.deepEqual(await inPages(read, limits), wanted, JSON.stringify(limits));
      }
    }
  },
);

test(
  "tasks that are over are told as such when their events can be read, so that who follows them misses none",
  { skip },
  async (t) => {
    const folder = tempFolder(t);
    const w = world(folder, loops);
    t.after(() => w.stop());
    const view = openPostgresView(databaseOf(folder), w.store.salt);
    t.after(() => view.close());
    const client = await connectTo(databaseOf(folder));
    t.after(() => client.end());
    // As another node that gives places and takes its time.
    await client.query("BEGIN");
    await client.query("SELECT next FROM counter FOR UPDATE");
    const name = await started(w, "fails");
    await w.engine.result(name);
    const root = idInName(w.store.salt, name) ?? 0;
    assert.deepEqual((await view.events(root, { after: 0, limit: 100 })).rows, []);
    const below = view.below(root);
    await client.query("ROLLBACK");
    assert.deepEqual(
      (await below).map(({ status }) => status),
      ["failed"],
    );
    const { rows } = await view.events(root, { after: 0, limit: 100 });
    assert.equal(rows.at(-1)?.type, "task.failed");
  },
);
