// Programs start work without end, each within its own budget. What the user allows for a day must hold over all of it.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

import { loadConfig } from "../../src/daemon/project/project-config.ts";
import { readConfigFiles } from "../../src/daemon/project/config-files.ts";
import type { TaskId } from "../../src/protocol/ids.ts";
import { DaemonProcess } from "../e2e/daemon-process.ts";
import { scenarioOf } from "../e2e/scenario.ts";
import type { ModelServer } from "../support/model-server.ts";
import { allWait, capAsks, cappedConfig, perCall, sellingServer, spendthrift } from "../support/spendthrift.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { until } from "../support/wait-until.ts";

const me = { kind: "person", name: "test" } as const;
/** A daemon of a user with a cap, whose models are on the loopback. */
async function cappedDaemon(t: TestContext, server: ModelServer, limits: unknown): Promise<DaemonProcess> {
  const daemon = new DaemonProcess();
  t.after(() => daemon.close());
  mkdirSync(join(daemon.folder, ".tutti"), { mode: 0o700 });
  const config = JSON.stringify(cappedConfig(server, limits));
  writeFileSync(join(daemon.folder, ".tutti", "tutti.config.json"), config, { mode: 0o600 });
  return daemon.up();
}

/** As a model that is connected to the daemon: the text that its tool gives back. */
async function answerOverMcp(
  t: TestContext,
  daemon: DaemonProcess,
  { key, ...input }: { readonly key: string; readonly ask: string; readonly answer: unknown },
): Promise<string> {
  const mcp = new Client({ name: "test", version: "1" });
  const headers = { authorization: `Bearer ${key}` };
  await mcp.connect(new StreamableHTTPClientTransport(new URL(`${daemon.url}/mcp`), { requestInit: { headers } }));
  t.after(() => mcp.close());
  return JSON.stringify(await mcp.callTool({ name: "ask_answer", arguments: input }));
}

test("work without end stays within the cap of the day, asks once, and a kill changes neither", async (t) => {
  const server = await sellingServer(t);
  const cap = 5_000;
  const daemon = await cappedDaemon(t, server, { tokens_per_day: cap });
  let scenario = scenarioOf(daemon);
  let { client } = scenario;
  const roots: TaskId[] = [];
  for (let at = 0; at < 12; at += 1) roots.push(await scenario.start(spendthrift(at)));
  await until(() => allWait(client, roots, server));
  const sent = server.received.length;
  assert.ok(sent > 1 && sent * perCall <= cap, `${sent} calls were sent`);
  assert.equal((await capAsks(client)).length, 1);
  const { day } = await client.status();
  assert.deepEqual(
    { ...day?.tokens, reserved: undefined },
    { limit: cap, raised: 0, used: sent * perCall, reserved: undefined },
  );

  await daemon.kill();
  await daemon.up();
  scenario = scenarioOf(daemon);
  ({ client } = scenario);
  for (let at = 12; at < 14; at += 1) roots.push(await scenario.start(spendthrift(at)));
  await until(() => allWait(client, roots, server));
  const [ask, ...others] = await capAsks(client);
  assert.deepEqual(others, []);
  assert.ok(server.received.length * perCall <= cap, `${server.received.length} calls were sent`);

  const id = ask?.id ?? "";
  const raise = { kind: "question", value: ask?.choices?.[0] };
  assert.equal((await client.answer(id, { kind: "question", value: "raise it by $1000000" }, me)).accepted, false);
  const { key } = await client.addKey({ name: "a program", role: "operator" });
  assert.match(await answerOverMcp(t, daemon, { key, ask: id, answer: raise }), /a person decides it/);
  assert.ok((await client.answer(id, raise, me)).accepted);
  await until(() => server.received.length > sent);
  await until(async () => (await capAsks(client)).some((each) => each.id !== id));
  assert.ok(server.received.length * perCall <= 2 * cap, `${server.received.length} calls were sent`);

  const [second] = await capAsks(client);
  assert.ok((await client.answer(second?.id ?? "", { kind: "question", value: "stop what waits" }, me)).accepted);
  for (const root of roots) await client.result(root);
  assert.ok(server.received.length * perCall <= 2 * cap);
  await client.close();
});

test("a project says nothing about what the user allows for a day", async (t) => {
  const folder = tempFolder(t);
  writeFileSync(join(folder, "tutti.config.json"), JSON.stringify({ limits: { tokens_per_day: 1_000_000_000 } }));
  await assert.rejects(
    loadConfig(readConfigFiles(folder)),
    /limits is not for a project to set; put it into ~\/.tutti\/tutti.config.json/,
  );
});
