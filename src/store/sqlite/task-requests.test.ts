import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";

import { tempFolder } from "../../../test/support/temp-folder.ts";
import { databaseFile } from "./database.ts";
import { openStore } from "./sqlite-store.ts";
import { openView } from "./sqlite-view.ts";
import { addMissingRequests } from "./task-requests.ts";

const target = (agent: string, text: string) => ({
  agent: { type: "named", agent_id: agent },
  message: { role: "user", parts: [{ part_type: "text", data: text }] },
});

test("what a task was asked is read from a short record, from the beginning of a long one, and how its targets ended", async (t) => {
  const folder = tempFolder(t);
  const store = openStore(folder);
  t.after(() => store.close());
  const head = { depth: 0, kind: "k", agent: "x", detached: false, created_at: 1, deadline: null, shared: null };
  const add = (parent: number | null, input: unknown): number =>
    store.addTask({ ...head, parent, root: parent, body: JSON.stringify({ input }) });
  const targets = [target("a", `go\n${"x".repeat(100_000)}`), target("b", "too")];
  const long = add(null, { invocation: { targets } });
  const short = add(null, { message: target("a", "hello").message });
  const end = (task: number, status: "failed" | "completed" | "canceled"): void =>
    store.addResult({ task, status, at: 2, body: "{}" });
  // The first two belong to an attempt that was given up.
  for (const status of ["canceled", "canceled", "failed", "completed"] as const) end(add(long, {}), status);
  await store.committed();
  const view = openView(folder);
  t.after(() => view.close());
  const asked = { agents: ["a", "b"], targets: 2, prompt: "go" };
  assert.deepEqual(await view.request(long), { ...asked, failed: 1, canceled: 0 });
  assert.deepEqual(await view.request(short), { agents: [], targets: 0, prompt: "hello", failed: 0, canceled: 0 });
  assert.deepEqual(await view.treeOf(long), { tokens: 0, money: 0, operator_requests: 0 });

  const database = new DatabaseSync(databaseFile(folder));
  t.after(() => database.close());
  database.exec(`DELETE FROM request_previews; ${addMissingRequests}`);
  assert.deepEqual(await view.request(long), { ...asked, failed: 1, canceled: 0 }, "of an earlier version");
});
