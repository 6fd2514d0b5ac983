import assert from "node:assert/strict";
import { get } from "node:http";
import { test } from "node:test";

import { tempFolder } from "../../../test/support/temp-folder.ts";
import { connectDaemon, probeDaemon } from "./find-daemon.ts";
import { workHere } from "./work-here.ts";

const single = JSON.stringify({
  invocation: {
    targets: [
      {
        agent: { type: "named", agent_id: "a" },
        message: { role: "user", parts: [{ part_type: "text", data: "go" }] },
      },
    ],
  },
  agents: { a: { instructions: "a" } },
  script: { rules: [{ final: "done" }] },
});

/** A caller that stays connected after its reply; resolves when the reply is complete. */
async function connectAndStay(url: string, key: string): Promise<{ leave: () => void }> {
  const request = get(`${url}/v1/status`, {
    agent: false,
    headers: { authorization: `Bearer ${key}`, connection: "keep-alive" },
  });
  await new Promise<void>((resolve, reject) => {
    request.on("error", reject);
    request.on("response", (response) => response.resume().on("end", resolve));
  });
  return { leave: () => request.destroy() };
}

test("a process that did the work of others ends only when they have read how it ended", async (t) => {
  const folder = tempFolder(t);
  const work = await workHere(folder);
  t.after(() => work.close());
  const other = await connectDaemon(folder);
  const found = await probeDaemon(folder);
  assert.ok(other !== undefined && found !== undefined);
  const { task } = await other.invoke(single, { folder });
  const stays = await connectAndStay(found.daemon.url, found.key);
  for await (const _ of other.follow({ task })) void _;
  let isClosed = false;
  const closing = work.close().then(() => (isClosed = true));
  await new Promise((resolve) => setTimeout(resolve, 100));
  assert.equal(isClosed, false);
  assert.equal((await other.task(task)).status, "completed", "the port is still served");
  stays.leave();
  await other.close();
  await closing;
  assert.equal(await probeDaemon(folder), undefined);
});
