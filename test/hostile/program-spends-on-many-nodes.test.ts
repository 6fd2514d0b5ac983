// Programs start work without end on several nodes at once. What the user allows for a day must hold over all of them together.
import assert from "node:assert/strict";
import { after, test } from "node:test";

import type { TaskId } from "../../src/protocol/ids.ts";
import { nodeProcesses } from "../support/node-processes.ts";
import { postgresPrograms } from "../support/postgres-server.ts";
import { allWait, capAsks, cappedConfig, perCall, sellingServer, spendthrift } from "../support/spendthrift.ts";
import { sharedServer } from "../support/stores.ts";
import { until } from "../support/wait-until.ts";

const me = { kind: "person", name: "test" } as const;
const skip = postgresPrograms() === undefined ? "PostgreSQL is not installed" : false;
if (skip === false) after(() => sharedServer().stop());

test("two nodes together stay within the cap of the day, ask once, and go on when one is lost", { skip }, async (t) => {
  const server = await sellingServer(t);
  const cap = 5_000;
  const nodes = nodeProcesses(t, { userConfig: cappedConfig(server, { tokens_per_day: cap }) });
  const [one, two] = [await nodes.start("one"), await nodes.start("two")];
  const roots: TaskId[] = [];
  const start = async (at: number): Promise<void> => {
    const { tutti, folder } = at % 2 === 0 ? one : two;
    roots.push((await tutti.invoke(spendthrift(at), { folder, anew: true })).task);
  };
  for (let at = 0; at < 14; at += 1) await start(at);
  await until(() => allWait(two.tutti, roots, server));
  assert.ok(server.received.length > 1 && server.received.length * perCall <= cap, `${server.received.length} calls`);
  const [asked, ...more] = await capAsks(two.tutti);
  assert.deepEqual(more, []);

  await one.kill();
  await until(async () => (await two.tutti.nodes()).nodes.filter(({ state }) => state === "alive").length === 1);
  await until(() => allWait(two.tutti, roots, server));
  const [ask, ...others] = await capAsks(two.tutti);
  assert.deepEqual([ask?.id, others], [asked?.id, []]);
  assert.ok(server.received.length * perCall <= cap);

  const sent = server.received.length;
  const given = await two.tutti.answer(ask?.id ?? "", { kind: "question", value: ask?.choices?.[0] }, me);
  assert.ok(given.accepted);
  await until(() => server.received.length > sent);
  const stop = await until(async () => (await capAsks(two.tutti)).find(({ id }) => id !== ask?.id));
  assert.ok((await two.tutti.answer(stop.id, { kind: "question", value: "stop what waits" }, me)).accepted);
  for (const root of roots) await two.tutti.result(root);
  assert.ok(server.received.length * perCall <= 2 * cap, `${server.received.length} calls`);
});
