import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test, type TestContext } from "node:test";

import { tempFolder } from "../../../test/support/temp-folder.ts";
import { removeDaemonFile, writeDaemonFile } from "./daemon-file.ts";
import { ownProcess } from "./process-identity.ts";
import { refoundFetch } from "./refound-fetch.ts";

const bearer = { headers: { authorization: "Bearer secret" } };

interface Listener {
  readonly url: string;
  readonly heard: string[];
  readonly close: () => Promise<void>;
}

async function listener(t: TestContext, name: string, port = 0): Promise<Listener> {
  const heard: string[] = [];
  const server = createServer((request, response) => {
    heard.push(`${request.url} ${request.headers.authorization}`);
    response.end(name);
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  t.after(close);
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, heard, close };
}

async function fileOf(url: string, instance: string) {
  const { pid, start } = await ownProcess();
  return { pid, process_start: start, url, instance, started_at: 1, version: "0.1.0" };
}

test("after a failure the request goes to the process that works on the folder now, wherever it listens", async (t) => {
  const folder = tempFolder(t);
  const first = await listener(t, "first");
  const file = await fileOf(first.url, "one");
  writeDaemonFile(folder, file);
  const send = refoundFetch(folder, file);
  assert.equal(await (await send(`${first.url}/v1/status`)).text(), "first");
  await first.close();
  const second = await listener(t, "second");
  writeDaemonFile(folder, await fileOf(second.url, "two"));
  await assert.rejects(send(`${first.url}/v1/status`), /fetch failed/);
  assert.equal(await (await send(`${first.url}/v1/tasks?limit=1`, bearer)).text(), "second");
  assert.deepEqual(second.heard, ["/v1/tasks?limit=1 Bearer secret"]);
});

test("a stranger who took the port of a process that has ended is not sent the key", async (t) => {
  const folder = tempFolder(t);
  const first = await listener(t, "first");
  const file = await fileOf(first.url, "one");
  writeDaemonFile(folder, file);
  const send = refoundFetch(folder, file);
  await first.close();
  await assert.rejects(send(`${first.url}/v1/status`, bearer), /fetch failed/);
  removeDaemonFile(folder, "one");
  const stranger = await listener(t, "stranger", Number(new URL(first.url).port));
  const refused = await send(`${first.url}/v1/status`, bearer).catch((thrown: unknown) => thrown);
  assert.ok(refused instanceof TypeError && refused.cause instanceof Error);
  assert.match(refused.cause.message, /no process works on/);
  assert.deepEqual(stranger.heard, []);
});
