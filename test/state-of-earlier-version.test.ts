// A state folder as version 2 of the tables left it, killed with work of every kind under way, is opened and goes on.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";

import { fakeClock } from "../src/engine/fake-clock.ts";
import { userMessage } from "../src/protocol/task/message.ts";
import { databaseFile } from "../src/store/sqlite/database.ts";
import { migrations } from "../src/store/sqlite/schema.ts";
import { openView } from "../src/store/sqlite/sqlite-view.ts";
import { askName, taskName } from "../src/store/names.ts";
import { answer, anything, ask, type Loops, person, seen, task, world } from "./support/engine-kit.ts";
import { settle } from "./support/settle.ts";
import { tempFolder } from "./support/temp-folder.ts";

const any = { repeatable: true, schema: anything } as const;
const never = new Promise<never>(() => undefined);

const loops: Loops = {
  asks: async (d) => {
    await d.step("first", any, () => assert.fail("it was recorded"));
    const given = await d.wait("which", { ask, schema: anything });
    return "value" in given ? given.value : "expired";
  },
  selects: async (d) => {
    const open = await d.open("q", { ask: { kind: "approval", question: "may I?" }, schema: anything });
    return (await d.select("pick", [{ wait: open }, { after: 60_000 }])).kind;
  },
  sleeps: async (d) => {
    await d.sleep("nap", 30_000);
    return "slept";
  },
  hears: async (d) => {
    const first = await d.receive("mail", { block: true });
    await d.step("x", any, () => assert.fail("it was recorded"));
    const second = await d.receive("more", { block: true });
    return [first, second].map((message) => message?.parts[0]?.data);
  },
  external: async (d) => {
    const given = await d.wait("ext", { label: "a tool of the client", schema: anything });
    return "value" in given ? given.value : "expired";
  },
  notes: (d) => d.step("run", any, async ({ noted }) => `again ${JSON.stringify(noted)}`),
  pays: (d) => d.step("pay", { repeatable: false, schema: anything }, () => never),
  parent: async (d) => {
    const ids = await d.spawn("kids", [task("sleeps"), task("asks", { detached: true })]);
    return d.join(ids.slice(0, 1));
  },
};

function openedFolder(t: Parameters<typeof tempFolder>[0]): string {
  const folder = tempFolder(t);
  const database = new DatabaseSync(databaseFile(folder));
  const rows = readFileSync(join(import.meta.dirname, "fixtures", "state-version-2.sql"), "utf8");
  database.exec(`BEGIN; ${migrations.slice(0, 2).join(";")}; ${rows}; PRAGMA user_version = 2; COMMIT`);
  database.close();
  return folder;
}

test("a state folder of the version before is opened, its tasks have their status, and all of them go on", async (t) => {
  const folder = openedFolder(t);
  const w = world(folder, loops, { clock: fakeClock(1_767_225_600_000) });
  t.after(() => w.stop());
  const byAgent = new Map(seen(folder, "SELECT agent, id FROM tasks").map((row) => [row["agent"], Number(row["id"])]));
  const statuses = async (): Promise<Record<string, string>> => {
    const view = openView(folder);
    const { rows } = await view.tasks({ limit: 99 });
    view.close();
    return Object.fromEntries(rows.map((row) => [`${row.agent} ${row.id}`, row.status]));
  };
  const before = await statuses();
  assert.equal(before["asks 1"], "input_required");
  assert.equal(before["selects 2"], "input_required");
  assert.equal(before["sleeps 3"], "running");
  assert.equal(before["done 11"] ?? before["done 9"] ?? before["done 10"], "completed");

  const notes: unknown[] = [];
  assert.ok((await w.engine.recover()) > 8);
  await settle();
  assert.deepEqual(notes, []);
  assert.equal((await statuses())["asks 1"], "input_required");
  const once = { once: { key: "request owner k1", content: "ab".repeat(32) } };
  const found = await w.engine.start(task("sleeps"), once);
  assert.deepEqual([found.existed, found.task], [true, taskName(w.store.salt, 13)]);
  await assert.rejects(w.engine.start(task("sleeps"), { once: { key: "request owner k1", content: "other" } }), {
    code: "conflict",
  });

  for (const row of seen(folder, "SELECT id, ask FROM waits WHERE settled = 0")) {
    const value =
      row["ask"] === "approval" ? { kind: "approval", approved: true } : row["ask"] === null ? "done" : answer("blue");
    await w.engine.deliver(askName(w.store.salt, Number(row["id"])), value, person);
  }
  const hears = taskName(w.store.salt, byAgent.get("hears") ?? 0);
  await w.engine.message(hears, userMessage("again"));
  await settle();
  w.clock.advance(31_000);
  await w.engine.idle();
  const results = new Map(
    seen(folder, "SELECT agent, results.body FROM results JOIN tasks ON tasks.id = results.task ORDER BY tasks.id").map(
      (row) => [row["agent"], JSON.parse(String(row["body"]))],
    ),
  );
  assert.deepEqual(results.get("asks"), { content: answer("blue") });
  assert.deepEqual(results.get("selects"), { content: "wait" });
  assert.deepEqual(results.get("sleeps"), { content: "slept" });
  assert.deepEqual(results.get("hears"), { content: ["hello", "again"] });
  assert.deepEqual(results.get("external"), { content: "done" });
  assert.deepEqual(results.get("notes"), { content: 'again {"pid":7}' });
  assert.equal(results.get("pays")?.error?.code, "outcome_unknown");
  assert.equal(seen(folder, "SELECT COUNT(*) AS n FROM open")[0]?.["n"], 0);
});
