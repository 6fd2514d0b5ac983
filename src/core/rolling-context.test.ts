import assert from "node:assert/strict";
import { describe, test } from "node:test";

import fc from "../../test/support/properties.ts";
import {
  contextTokens,
  emptyContext,
  foldPrompt,
  foldRounds,
  holdsSessionOutput,
  type RollingContext,
  type Round,
  roundsToFold,
  wordsWithoutModel,
} from "./rolling-context.ts";

const round = (user: string, more: Partial<Round> = {}): Round => ({
  user,
  reply: "ok",
  verbs: [],
  held: false,
  ...more,
});
const context = (...rounds: Round[]): RollingContext => ({ ...emptyContext, rounds });
const limits = { window: 2, budget: 1_000 };

describe("what the manager remembers of a conversation", () => {
  test("the window evicts the oldest round", () => {
    assert.equal(roundsToFold(context(round("a"), round("b")), "", limits), 0);
    assert.equal(roundsToFold(context(round("a"), round("b"), round("c")), "", limits), 1);
  });

  test("the budget triggers compaction, and counts the prompt and the message too", () => {
    const both = context(round("a"), round("b"));
    assert.equal(roundsToFold(both, "x".repeat(5_000), limits), 1);
    assert.ok(contextTokens(both, "x".repeat(400)) > 100);
    assert.ok(contextTokens(context(round("日本語")), "") > contextTokens(context(round("abc")), ""));
  });

  test("the last round is never folded away, however large it is", () => {
    const large = context(round("a"), round("x".repeat(100_000)));
    assert.equal(roundsToFold(large, "", limits), 1);
    assert.equal(roundsToFold(foldRounds(large, 1, "summary"), "", limits), 0);
  });

  test("what is evicted is in the request for the summary, with the verbs that were used", () => {
    const told = foldPrompt(
      { ...context(round("stop it", { verbs: ["sessions.stop tsk_1 -> ok"] })), summary: "S" },
      1,
    );
    for (const part of ["Summary so far: S", "stop it", "sessions.stop tsk_1 -> ok"])
      assert.ok(told.includes(part), part);
  });

  test("ids of goals, tasks and asks survive any summary, again and again", () => {
    const id = fc.constantFrom("gol_a1", "tsk_b2", "ask_c3", "evd_d4");
    fc.assert(
      fc.property(fc.array(id, { minLength: 1 }), fc.string(), fc.string(), (ids, words, later) => {
        const once = foldRounds(
          context(...ids.map((each) => round(`about ${each} now`)), round("last")),
          ids.length,
          words,
        );
        const twice = foldRounds({ ...once, rounds: [round("more"), round("last")] }, 1, later);
        for (const each of ids) assert.ok(twice.summary.includes(each), each);
      }),
    );
  });

  test("that a session's output was read is remembered through the summary", () => {
    const held = context(round("a", { held: true }), round("b"));
    assert.ok(holdsSessionOutput(held));
    assert.ok(holdsSessionOutput(foldRounds(held, 1, "harmless words")));
    assert.ok(!holdsSessionOutput(context(round("a"))));
  });

  test("without a model the person's words stand for the summary", () => {
    assert.match(wordsWithoutModel(context(round("look at tsk_1")), 1), /The person said: look at tsk_1/);
  });
});
