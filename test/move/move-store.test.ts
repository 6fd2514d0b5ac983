import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { after, test, type TestContext } from "node:test";

import { parkedTrees } from "../../src/cluster/parked-trees.ts";
import { systemClock } from "../../src/engine/clock.ts";
import { eventView } from "../../src/engine/event-view.ts";
import { askName, idInName, taskName, threadName } from "../../src/store/names.ts";
import { exportDatabase } from "../../src/store/move/export-database.ts";
import { importFolder } from "../../src/store/move/import-folder.ts";
import { connectTo, type DatabaseAddress, ask as query } from "../../src/store/postgres/database-connection.ts";
import { openPostgresView } from "../../src/store/postgres/postgres-view.ts";
import { openView } from "../../src/store/sqlite/sqlite-view.ts";
import { openStore } from "../../src/store/sqlite/sqlite-store.ts";
import type { Salt } from "../../src/store/names.ts";
import type { StoreView } from "../../src/store/view.ts";
import { userMessage } from "../../src/protocol/task/message.ts";
import { saltOfDatabase } from "../../src/store/move/shared-database.ts";
import { openNode } from "../support/cluster-kit.ts";
import { again, answer, anything, ask, codeOf, type Loops, person, task, worldAt } from "../support/engine-kit.ts";
import { postgresPrograms } from "../support/postgres-server.ts";
import { newDatabase, sharedServer } from "../support/stores.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { until } from "../support/wait-until.ts";

const skip = postgresPrograms() === undefined ? "PostgreSQL is not installed" : false;
after(() => {
  if (skip === false) sharedServer().stop();
});

const ran: string[] = [];
const loops: Loops = {
  parent: async (d) => {
    d.say("hello", userMessage("parent \0 speaks"));
    const ids = await d.spawn("kids", [task("kid"), task("kid"), task("fails")], {
      shared: { long: "x".repeat(3_000) },
    });
    const got = await d.wait("which", { ask, schema: anything });
    const results = await d.join(ids);
    return [ids, got, results.length];
  },
  kid: async (d) => {
    for (let turn = 0; turn < 3; turn += 1) {
      await d.step(`s${turn}`, again, () => {
        ran.push(`${d.task} ${turn}`);
        return `${turn}`;
      });
      d.say(`m${turn}`, userMessage(`turn ${turn}`));
      await d.now(`t${turn}`);
    }
    return "done";
  },
  fails: async () => {
    throw new Error("broken");
  },
  waits: async (d) => [await d.wait("tool", { label: "weather", details: { city: "Oslo" }, schema: anything })],
  listens: async (d) => {
    const heard = await d.receive("first", { block: true });
    const more = await d.receive("second", { block: true });
    return [heard, more];
  },
};

/** A folder with trees that are over, trees that wait, a thread, keys of the API and settings. */
async function usedFolder(t: TestContext): Promise<{ folder: string; parent: string; ask: string; listens: string }> {
  const folder = tempFolder(t);
  const w = worldAt(folder, loops, { clock: systemClock });
  const { engine, store } = w;
  const parent = (await engine.start(task("parent"), { once: { key: "request owner k1", content: "c1" } })).task;
  const done = (await engine.start(task("kid"))).task;
  await engine.start(task("waits"));
  const listens = (await engine.start(task("listens"))).task;
  await engine.message(listens, userMessage("one"), {});
  await engine.result(done);
  const found = await until(() => store.openWaits().find((wait) => wait.ask !== null));
  await until(() => store.openTasks(idInName(store.salt, parent) ?? 0).length === 1 || undefined);
  const thread = store.addThread({
    name: "talk",
    project: "/p",
    kind: "agent",
    created_at: 5,
    said_at: 5,
    forked_from: null,
  });
  store.addThreadEntry({ thread, position: 1, task: idInName(store.salt, done) ?? 0, until: null }, 6);
  const { records } = openedRecords(store);
  records.addKey({ id: "key_1", name: "n", role: "admin", digest: "d1", created_at: 1, revoked_at: null });
  records.putSetting("paused", JSON.stringify({ since: null, past: [] }));
  records.putSetting("port", "1234");
  records.putSetting("notified", "3");
  await store.committed();
  const name = askName(store.salt, found.id);
  await w.stop();
  return { folder, parent, ask: name, listens };
}

function openedRecords(store: unknown): ReturnType<typeof openStore> {
  // The store of a folder has the records of the service, too.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return store as ReturnType<typeof openStore>;
}

/** All that a reader can see, by names alone. */
async function seenIn(view: StoreView): Promise<unknown> {
  const { salt } = view;
  const { rows: events } = await view.eventsAfter({ after: 0, limit: 10_000 });
  const { rows: tasks } = await view.tasks({ limit: 1_000 });
  const waits = await Promise.all([true, false].map((asks) => view.openWaits({ after: 0, limit: 100, asks })));
  const { rows: threads } = await view.threads({ limit: 100 });
  return {
    events: events.map((event) => eventView(salt, event)),
    tasks: await Promise.all(
      tasks.map(async ({ id, parent, root, shared, ...more }) => ({
        ...more,
        id: taskName(salt, id),
        parent: parent === null ? null : taskName(salt, parent),
        root: taskName(salt, root),
        shares: shared !== null,
        result: await view.result(id),
        request: await view.request(id),
        messages: (await view.messages(id, { after: 0, limit: 100 })).rows.map(({ body, seq }) => [seq, body]),
      })),
    ),
    waits: waits.map(({ rows }) =>
      rows.map(({ id, task: of, ...more }) => ({
        ...more,
        id: askName(salt, id),
        task: taskName(salt, of),
        root: undefined,
        run: undefined,
      })),
    ),
    threads: await Promise.all(
      threads.map(async ({ id, name, entries, said_at }) => ({
        id: threadName(salt, id),
        name,
        entries,
        said_at,
        tasks: (await view.threadEntries(id, { after: 0, limit: 10 })).map((entry) => taskName(salt, entry.task)),
      })),
    ),
    paused: await view.setting("paused"),
    notified: await view.setting("notified"),
  };
}

async function seenInFolder(folder: string): Promise<unknown> {
  const view = openView(folder);
  try {
    return await seenIn(view);
  } finally {
    view.close();
  }
}

async function withClient<T>(
  address: DatabaseAddress,
  work: (client: Awaited<ReturnType<typeof connectTo>>) => Promise<T>,
): Promise<T> {
  const client = await connectTo(address);
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

async function seenInDatabase(address: DatabaseAddress): Promise<unknown> {
  const salt: Salt = await withClient(address, saltOfDatabase);
  const view = openPostgresView(address, salt);
  try {
    return await seenIn(view);
  } finally {
    view.close();
  }
}

test(
  "a reader sees the same in a folder, in the database it was imported into and in the folder that was exported",
  { skip },
  async (t) => {
    const { folder } = await usedFolder(t);
    const address = newDatabase();
    const before = await seenInFolder(folder);
    const progress: number[] = [];
    const report = await importFolder({ folder, address, onProgress: ({ rows }) => progress.push(rows) });
    assert.deepEqual([report.existed, report.trees, report.tasks, report.unfinished], [false, 4, 7, 3]);
    assert.equal(progress.at(-1), report.rows);
    assert.deepEqual(await seenInDatabase(address), before);

    const back = tempFolder(t);
    const exported = await exportDatabase({ folder: back, address });
    assert.deepEqual([exported.trees, exported.tasks, exported.unfinished, exported.rows], [4, 7, 3, report.rows]);
    assert.deepEqual(await seenInFolder(back), before);
  },
);

test(
  "what a folder had unfinished goes on at a node under its old names, and then in a folder again",
  { skip },
  async (t) => {
    const { folder, parent, ask: open, listens } = await usedFolder(t);
    const address = newDatabase();
    ran.length = 0;
    await importFolder({ folder, address });
    const { node } = await openNode(t, address, loops, { name: "a" });
    await node.beat();
    assert.equal((await node.tasks.deliver(open, answer("this"), person)).outcome, "accepted");
    const result = await node.engine.result(parent);
    assert.equal(result.status, "completed");
    assert.deepEqual(ran, [], "no recorded step runs again");
    await node.tasks.message(listens, userMessage("two"));
    assert.equal((await node.engine.result(listens)).status, "completed");
    const known = await node.tasks.start(task("parent"), { once: { key: "request owner k1", content: "c1" } });
    assert.deepEqual([known.task, known.existed], [parent, true]);
    // New work, in a tree of its own and under the name of the database.
    const fresh = (await node.tasks.start(task("parent"))).task;
    const salt = node.node.store.salt;
    assert.notEqual(fresh.split("_")[1], parent.split("_")[1]);
    const asked = await until(() => node.node.store.openWaits().find((wait) => wait.ask !== null));
    assert.equal(asked.root, idInName(salt, fresh));
    await until(() => node.node.store.openTasks(asked.root).length === 1 || undefined);
    const name = askName(salt, asked.id);
    await node.close();

    const back = tempFolder(t);
    await exportDatabase({ folder: back, address });
    ran.length = 0;
    const w = worldAt(back, loops, { clock: systemClock });
    t.after(() => w.stop());
    await w.engine.recover();
    assert.equal((await w.engine.deliver(name, answer("that"), person)).outcome, "accepted");
    assert.equal((await w.engine.result(fresh)).status, "completed");
    assert.deepEqual(ran, []);
    assert.equal((await w.engine.deliver(open, answer("late"), person)).outcome, "late");
  },
);

test("what a folder had unfinished in a project goes only to a node that has its folder", { skip }, async (t) => {
  const folder = tempFolder(t);
  const w = worldAt(folder, loops, { clock: systemClock });
  const runner = { kind: "loop", config: { project: "/nowhere/on/this/machine" } };
  await w.engine.start(task("parent", { runner }));
  await w.stop();
  const address = newDatabase();
  await importFolder({ folder, address });
  const { node } = await openNode(t, address, loops, { name: "a" });
  await node.beat();
  const [parked] = await parkedTrees(node.node);
  assert.deepEqual(parked?.missing, ["project:/nowhere/on/this/machine"]);
});

test("a folder that was imported is not gone on with, and a second import changes nothing", { skip }, async (t) => {
  const { folder } = await usedFolder(t);
  const address = newDatabase();
  await importFolder({ folder, address });
  assert.throws(() => openStore(folder), /moved into a database/);
  const before = await seenInDatabase(address);
  assert.equal((await importFolder({ folder, address })).existed, true);
  assert.deepEqual(await seenInDatabase(address), before);
  assert.equal(await codeOf(importFolder({ folder, address: newDatabase() })), "conflict");
});

test("nobody joins a database that was exported, and a second export changes nothing", { skip }, async (t) => {
  const { folder } = await usedFolder(t);
  const address = newDatabase();
  await importFolder({ folder, address });
  // Where it came from: the old records are kept beside the new ones.
  await exportDatabase({ folder, address });
  assert.ok(existsSync(join(folder, "tutti.db.moved")));
  assert.equal((await exportDatabase({ folder, address })).existed, true);
  assert.equal(await codeOf(exportDatabase({ folder: tempFolder(t), address })), "conflict");
  assert.equal(await codeOf(openNode(t, address, loops, { name: "a" })), "conflict");
  assert.equal(await codeOf(importFolder({ folder, address })), "conflict");
  const other = newDatabase();
  assert.equal((await importFolder({ folder, address: other })).trees, 4);
});

test("while a node is there nothing is moved", { skip }, async (t) => {
  const { folder } = await usedFolder(t);
  const address = newDatabase();
  const { node } = await openNode(t, address, loops, { name: "busy one" });
  await assert.rejects(importFolder({ folder, address }), /busy one/);
  await assert.rejects(exportDatabase({ folder: tempFolder(t), address }), /busy one/);
  await node.close();
  // Nothing has said that the folder was moved.
  openStore(folder).close();
  assert.equal((await importFolder({ folder, address })).existed, false);
});

test("an import that is stopped leaves nothing in the database, and the folder as it was", { skip }, async (t) => {
  const { folder } = await usedFolder(t);
  const address = newDatabase();
  const stop = new AbortController();
  const moving = importFolder({
    folder,
    address,
    signal: stop.signal,
    onProgress: ({ rows }) => {
      if (rows > 5) stop.abort();
    },
  });
  await assert.rejects(moving);
  const [left] = await withClient(address, (client) => query(client, "SELECT count(*) AS value FROM tasks"));
  assert.equal(left?.["value"], 0);
  openStore(folder).close();
});

test("an import that is killed leaves nothing in the database, and can be run again", { skip }, async (t) => {
  const { folder } = await usedFolder(t);
  const before = await seenInFolder(folder);
  const address = newDatabase();
  const worker = join(import.meta.dirname, "import-worker.ts");
  const child = spawn(process.execPath, [worker, folder, address.url, address.schema], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.after(() => child.kill("SIGKILL"));
  // It has sent its first rows, and waits before the next.
  await once(child.stdout, "data");
  child.kill("SIGKILL");
  await once(child, "close");
  const [left] = await withClient(address, (client) => query(client, "SELECT count(*) AS value FROM tasks"));
  assert.equal(left?.["value"], 0);
  assert.equal((await importFolder({ folder, address })).trees, 4);
  assert.deepEqual(await seenInDatabase(address), before);
});

test(
  "an import that was cut off at its last moment is refused to everybody until it is run again",
  { skip },
  async (t) => {
    const { folder } = await usedFolder(t);
    const address = newDatabase();
    await importFolder({ folder, address });
    // As if the process had ended between the commit of the database and the last word in the folder.
    const opened = openView(folder);
    opened.close();
    const { DatabaseSync } = await import("node:sqlite");
    const database = new DatabaseSync(join(folder, "tutti.db"));
    database.exec("UPDATE meta SET value = json_set(value, '$.done', json('false')) WHERE key = 'moved'");
    database.close();
    assert.throws(() => openStore(folder), /cut off at its last moment/);
    assert.equal(await codeOf(importFolder({ folder, address: newDatabase() })), "conflict");
    assert.equal((await importFolder({ folder, address })).existed, true);
    assert.throws(() => openStore(folder), /moved into a database/);
  },
);

test("two folders become one Tutti, each with its names", { skip }, async (t) => {
  const [one, two] = [await usedFolder(t), await usedFolder(t)];
  const address = newDatabase();
  await importFolder({ folder: one.folder, address });
  await importFolder({ folder: two.folder, address });
  const { node } = await openNode(t, address, loops, { name: "a" });
  await node.beat();
  for (const each of [one, two]) {
    assert.equal((await node.tasks.deliver(each.ask, answer("this"), person)).outcome, "accepted");
    assert.equal((await node.engine.result(each.parent)).status, "completed");
  }
  const { store } = node.node;
  const view = openPostgresView(address, store.salt);
  t.after(() => view.close());
  const { rows } = await view.eventsAfter({ after: 0, limit: 10_000 });
  const places = rows.map((event) => event.seq);
  assert.deepEqual(
    places,
    [...new Set(places)].toSorted((a, b) => a - b),
  );
  assert.equal(rows.filter((event) => event.type === "task.created").length, 14);
});
