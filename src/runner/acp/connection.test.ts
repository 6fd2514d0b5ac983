import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { Connection, defaultLimits, type Peer, RpcError } from "./connection.ts";

function connected(peer: Partial<Peer> = {}, limits = defaultLimits) {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const bad: string[] = [];
  const connection = new Connection(
    { input, output },
    {
      onNotification: () => undefined,
      onRequest: async () => null,
      onBadFrame: (problem) => bad.push(problem),
      ...peer,
    },
    limits,
  );
  const sent = (): unknown[] =>
    String(output.read() ?? "")
      .split("\n")
      .flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
  return { connection, input, sent, bad };
}

test("requests are answered by their ids, errors included, and a frame may arrive in pieces", async () => {
  const { connection, input, sent } = connected();
  const [one, two] = [connection.request("a", 1), connection.request("b", 2)];
  assert.deepEqual(sent(), [
    { jsonrpc: "2.0", id: 1, method: "a", params: 1 },
    { jsonrpc: "2.0", id: 2, method: "b", params: 2 },
  ]);
  input.write('{"id":2,"error":{"code":5,"message":"no"}}\n{"id":1,"res');
  await assert.rejects(two, (thrown) => thrown instanceof RpcError && thrown.code === 5);
  input.write('ult":"ü"}\n');
  assert.equal(await one, "ü");
});

test("when the other side ends, what is open is rejected and nothing more is sent", async () => {
  const { connection, input, sent, bad } = connected();
  const open = connection.request("a", 1);
  sent();
  input.end('{"half"');
  await assert.rejects(open, /closed its output/);
  await connection.closed;
  await assert.rejects(connection.request("b", 2), /closed its output/);
  assert.deepEqual([sent(), bad.length], [[], 1]);
});

test("frames are read no faster than they are handled", async () => {
  let handled = 0;
  const { input } = connected({ onNotification: () => sleep(5).then(() => void (handled += 1)) });
  let wrote = 0;
  const frame = `${JSON.stringify({ method: "m", params: "x".repeat(4_000) })}\n`;
  while (input.write(frame)) wrote += 1;
  await sleep(30);
  assert.ok(handled < wrote, `${handled} of ${wrote} were handled in 30 ms`);
  assert.ok(input.readableLength > 0, "the rest waits in the stream");
  input.destroy();
});

test("too many requests at once are refused, one by one", async () => {
  const { input, sent } = connected(
    { onRequest: () => new Promise(() => undefined) },
    { ...defaultLimits, requests: 1 },
  );
  input.write('{"id":"x","method":"m"}\n{"id":"y","method":"m"}\n');
  await sleep(10);
  assert.match(JSON.stringify(sent()), /^\[\{"jsonrpc":"2.0","id":"y","error":\{"code":-32000/);
});
