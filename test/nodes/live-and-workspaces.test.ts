// What is only in the memory or on the disk of one node is seen at every other: text that is being written, and workspaces.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, test } from "node:test";

import { httpClient } from "../../src/client/http-client.ts";
import { livePath } from "../../src/daemon/cluster/live-between-nodes.ts";
import { createWorkspace } from "../../src/workspace/create-workspace.ts";
import { openWorkspaces } from "../../src/workspace/record-store.ts";
import { testRepository } from "../support/git-kit.ts";
import { serveNode } from "../support/serving-node.ts";
import { postgresPrograms } from "../support/postgres-server.ts";
import { newDatabase, sharedServer } from "../support/stores.ts";
import { failsWith } from "../support/try-tool.ts";
import { slowInvocation } from "../support/up-process.ts";

const skip = postgresPrograms() === undefined ? "PostgreSQL is not installed" : false;
after(() => {
  if (skip === false) sharedServer().stop();
});

test(
  "text that one node writes is shown at another while it is written, to nodes and keys only",
  { skip },
  async (t) => {
    const address = newDatabase();
    const [a, b] = [await serveNode(t, address, { name: "a" }), await serveNode(t, address, { name: "b" })];
    const there = httpClient({ url: b.url, key: b.key });
    t.after(() => there.close());
    const text = readFileSync(slowInvocation(a.folder, 1_500), "utf8").replace('"final"', '"say"');
    const { task } = await a.state.client.invoke(text, { folder: a.folder });
    const seen: string[] = [];
    for await (const item of there.follow({ task, after: 0, live: true, signal: AbortSignal.timeout(240_000) })) {
      if ("live" in item) seen.push(item.live.text);
    }
    assert.match(seen.join(""), /Done\./, "the follower at b heard what a wrote");

    for (const headers of [{}, { authorization: `Bearer ${b.key}` }, { "tutti-node-token": "tn1.e30.AAAA" }]) {
      const refused = await fetch(`${a.url}${livePath}`, { headers });
      assert.equal(refused.status, 401, JSON.stringify(headers));
      await refused.body?.cancel();
    }
  },
);

test(
  "a workspace is looked at, merged and removed from any node, with the rights of the caller",
  { skip },
  async (t) => {
    const address = newDatabase();
    const [a, b] = [await serveNode(t, address, { name: "a" }), await serveNode(t, address, { name: "b" })];
    const repository = testRepository(t);
    const { task } = await a.state.client.invoke(readFileSync(slowInvocation(a.folder, 0), "utf8"), {
      folder: a.folder,
    });
    await a.state.tasks.result(task, AbortSignal.timeout(240_000));
    const wanted = { task, attempt: 1, mode: "worktree", project: repository.folder } as const;
    const made = await createWorkspace(openWorkspaces(a.folder), { ...wanted, now: Date.now() });
    assert.ok(made.state === "ready");
    const { id } = made.workspace;
    const there = httpClient({ url: b.url, key: b.key });
    t.after(() => there.close());
    assert.equal((await there.taskWorkspace(task)).id, id);
    assert.equal((await there.workspaceDiff(task)).files.length, 0);

    const { key } = await a.state.client.addKey({ name: "looks", role: "viewer" });
    const viewer = httpClient({ url: b.url, key });
    t.after(() => viewer.close());
    await assert.rejects(viewer.removeWorkspace(id, {}), failsWith("refused", /role/));
    await there.removeWorkspace(id, { uncommitted: "discard" });
    await assert.rejects(there.taskWorkspace("tsk_none_1"), failsWith("not_found", /no task/));
  },
);
