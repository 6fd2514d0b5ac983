import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";

import { lookGate, sharedLooks } from "./look-gate.ts";

interface Work {
  readonly signal: AbortSignal;
  readonly end: (value: string) => void;
}

function bench(limits: { readonly atOnce: number; readonly waiting: number }) {
  const begun: Work[] = [];
  const stopping = new AbortController();
  const gate = lookGate(limits);
  const looks = sharedLooks<string>(gate, stopping.signal);
  const look = (key: string, signal?: AbortSignal): Promise<string> => {
    const result = looks(key, signal, (own) => {
      const { promise, resolve, reject } = Promise.withResolvers<string>();
      own.addEventListener("abort", () => reject(own.reason), { once: true });
      begun.push({ signal: own, end: resolve });
      return promise;
    });
    result.catch(() => undefined);
    return result;
  };
  return { begun, gate, stopping, look };
}

test("the same look is taken once, and ends only when all who wait for it have gone", async () => {
  const { begun, look } = bench({ atOnce: 2, waiting: 2 });
  const [one, other] = [new AbortController(), new AbortController()];
  const first = look("a", one.signal);
  const second = look("a", other.signal);
  one.abort(new Error("gone"));
  await assert.rejects(first, /gone/);
  assert.equal(begun.length, 1);
  assert.equal(begun[0]?.signal.aborted, false);
  other.abort(new Error("gone, too"));
  await assert.rejects(second, /gone, too/);
  assert.equal(begun[0]?.signal.aborted, true);
  const third = look("a");
  await turn();
  assert.equal(begun.length, 2, "a later one does not wait for what was ended");
  begun[1]?.end("seen");
  assert.equal(await third, "seen");
});

test("few looks run at once, few wait, and who waits can leave", async () => {
  const { begun, look, gate } = bench({ atOnce: 2, waiting: 2 });
  const leaving = new AbortController();
  const [a, b, c, d] = [look("a"), look("b"), look("c", leaving.signal), look("d")];
  await turn();
  assert.equal(begun.length, 2);
  await assert.rejects(look("e"), { code: "slow_down" });
  leaving.abort(new Error("gone"));
  await assert.rejects(c, /gone/);
  await turn();
  const e = look("e");
  begun[0]?.end("A");
  assert.equal(await a, "A");
  await turn();
  assert.equal(begun.length, 3);
  begun[1]?.end("B");
  await b;
  await turn();
  assert.equal(begun.length, 4);
  begun[2]?.end("D");
  begun[3]?.end("E");
  assert.deepEqual(await Promise.all([d, e]), ["D", "E"]);
  await gate.idle();
});

test("all looks end when the service stops", async () => {
  const { look, gate, stopping } = bench({ atOnce: 1, waiting: 2 });
  const [running, waiting] = [look("a"), look("b")];
  await turn();
  stopping.abort();
  await assert.rejects(running, { code: "stopped" });
  await assert.rejects(waiting, { code: "stopped" });
  await gate.idle();
  await assert.rejects(look("c"), { code: "stopped" });
});
