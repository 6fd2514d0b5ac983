import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { type ErrorCode, TuttiError } from "../protocol/error.ts";
import { backoffMs, isTransient, sleep, withRetry } from "./retry.ts";

const failing = (code: ErrorCode): TuttiError => new TuttiError(code, `fails with ${code}`);

test("the delay grows from a tenth of a second to five seconds, and is at least half of its full length", () => {
  const full = [100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000];
  for (const [failures, ms] of full.entries()) {
    for (let count = 0; count < 50; count += 1) {
      const delay = backoffMs(failures);
      assert.ok(delay > ms / 2 - 1 && delay <= ms, `${delay} after ${failures} failures`);
    }
  }
  assert.ok(backoffMs(1e9) <= 5_000);
});

test("a service that is away, busy or failing may be tried again; a refusal and another version may not", () => {
  const transient: ErrorCode[] = ["unreachable", "stopped", "slow_down", "internal"];
  const final: ErrorCode[] = ["not_found", "unauthorized", "invalid_input", "conflict", "newer", "corrupt"];
  for (const code of transient) assert.equal(isTransient(failing(code)), true, code);
  for (const code of final) assert.equal(isTransient(failing(code)), false, code);
  assert.equal(isTransient(new Error("not ours")), false);
});

describe("withRetry", () => {
  test("repeats a call until it succeeds", async () => {
    let calls = 0;
    const call = async (): Promise<number> => {
      calls += 1;
      if (calls < 3) throw failing("unreachable");
      return calls;
    };
    assert.equal(await withRetry(call, { giveUpAfterMs: 10_000 }), 3);
  });

  test("throws a final failure at once", async () => {
    let calls = 0;
    const call = async (): Promise<never> => {
      calls += 1;
      throw failing("not_found");
    };
    await assert.rejects(withRetry(call, { giveUpAfterMs: 10_000 }), { code: "not_found" });
    assert.equal(calls, 1);
  });

  test("throws the last failure when the time is up", async () => {
    let calls = 0;
    const call = async (): Promise<never> => {
      calls += 1;
      throw new TuttiError("unreachable", `failure ${calls}`);
    };
    await assert.rejects(withRetry(call, { giveUpAfterMs: 120 }), (thrown) => {
      assert.ok(calls >= 2);
      return thrown instanceof TuttiError && thrown.message === `failure ${calls}`;
    });
  });

  test("stops waiting when the signal is aborted, and throws its reason", async () => {
    const stop = new AbortController();
    const retrying = withRetry(() => Promise.reject(failing("unreachable")), {
      giveUpAfterMs: 60_000,
      signal: stop.signal,
    });
    stop.abort(new Error("enough"));
    await assert.rejects(retrying, /enough/);
  });
});

test("sleep returns early when the signal is aborted, before or meanwhile", async () => {
  const began = Date.now();
  const stop = new AbortController();
  const sleeping = sleep(60_000, stop.signal);
  stop.abort();
  await sleeping;
  await sleep(60_000, stop.signal);
  assert.ok(Date.now() - began < 5_000);
});
