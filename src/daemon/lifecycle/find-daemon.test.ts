import assert from "node:assert/strict";
import { createServer, type RequestListener } from "node:http";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import { TuttiError } from "../../protocol/error.ts";
import { writeDaemonFile } from "./daemon-file.ts";
import { connectDaemon, findDaemon } from "./find-daemon.ts";
import { ownProcess } from "./process-identity.ts";

const key = `tk_${"k".repeat(43)}`;
const instance = "0d4d2f6a-0000-4000-8000-000000000001";

interface Scene {
  readonly folder: string;
  readonly url: string;
  readonly bearers: (string | undefined)[];
  /** Writes the file as this process would have. */
  readonly write: (changes?: { readonly process_start?: string; readonly url?: string }) => Promise<void>;
}

async function scene(t: TestContext, listener: RequestListener): Promise<Scene> {
  const folder = mkdtempSync(join(tmpdir(), "tutti-find-"));
  const bearers: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    bearers.push(request.headers.authorization);
    listener(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true, force: true });
  });
  writeFileSync(join(folder, "admin.key"), `${key}\n`, { mode: 0o600 });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { pid, start } = await ownProcess();
  return {
    folder,
    url,
    bearers,
    async write(changes) {
      writeDaemonFile(folder, {
        pid,
        process_start: start,
        url,
        instance,
        started_at: 1,
        version: "0.1.0",
        ...changes,
      });
    },
  };
}

const says =
  (status: number, body: unknown): RequestListener =>
  (_, response) =>
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));

test("a daemon that answers with the instance in the file is found, with the folder's key", async (t) => {
  const { folder, url, bearers, write } = await scene(t, says(200, { instance }));
  assert.equal(await findDaemon(folder), undefined, "there is no file yet");
  await write();
  assert.deepEqual(await findDaemon(folder), {
    url,
    pid: process.pid,
    version: "0.1.0",
    started_at: 1,
    command: false,
  });
  const client = await connectDaemon(folder);
  assert.equal(client?.url, url);
  await client?.close();
  assert.deepEqual(new Set(bearers), new Set([`Bearer ${key}`]));
});

test("the key is not sent to whoever listens where a daemon that has died did", async (t) => {
  const { folder, bearers, write } = await scene(t, says(200, { instance }));
  await write({ process_start: "another start" });
  assert.equal(await findDaemon(folder), undefined);
  assert.equal(await connectDaemon(folder), undefined);
  assert.deepEqual(bearers, []);
});

test("another service at that address is no daemon of this state, whatever it answers", async (t) => {
  const answers = [
    says(200, { instance: "another" }),
    says(200, "hello"),
    says(200, null),
    says(404, {}),
    says(500, {}),
  ];
  let answer: RequestListener = says(200, {});
  const { folder, write } = await scene(t, (request, response) => answer(request, response));
  await write();
  for (answer of answers) assert.equal(await findDaemon(folder), undefined);
  answer = (_, response) => response.socket?.destroy();
  assert.equal(await findDaemon(folder), undefined);
  answer = (_, response) => response.writeHead(302, { location: "http://127.0.0.1:1/" }).end();
  assert.equal(await findDaemon(folder), undefined);
});

test("nobody listening there is no daemon", async (t) => {
  const { folder, write } = await scene(t, says(200, { instance }));
  await write({ url: "http://127.0.0.1:1" });
  assert.equal(await findDaemon(folder), undefined);
});

test("a daemon that runs and does not answer is reported within seconds, with its pid and how to end it", async (t) => {
  const { folder, write } = await scene(t, () => undefined);
  await write();
  const begun = Date.now();
  await assert.rejects(findDaemon(folder), (error) => {
    assert.ok(error instanceof TuttiError);
    assert.equal(error.code, "unreachable");
    assert.match(error.message, new RegExp(`process ${process.pid}.*tutti down --force`));
    return true;
  });
  assert.ok(Date.now() - begun < 8_000);
});

test("a daemon that does not accept the key, and a key file that is gone, are reported as such", async (t) => {
  const { folder, write } = await scene(t, says(401, { code: "unauthorized" }));
  await write();
  const unauthorized = (words: RegExp) => (error: unknown) => {
    assert.ok(error instanceof TuttiError && error.code === "unauthorized");
    assert.match(error.message, words);
    return true;
  };
  await assert.rejects(findDaemon(folder), unauthorized(/does not accept the key/));
  rmSync(join(folder, "admin.key"));
  await assert.rejects(findDaemon(folder), unauthorized(/admin\.key is gone/));
});
