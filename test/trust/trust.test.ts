// One goal of each class through a real daemon. `npm run trust` plays all of them, with every kind of reviewer.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { skipUnconfined as skip } from "../support/check-kit.ts";
import { honestCases, hostileCases } from "./all-cases.ts";
import { falseIn, isUnasked, missingIn } from "./judge-play.ts";
import { playCase } from "./play-case.ts";
import type { TrustCase } from "./trust-case.ts";
import { openTrustWorld, type TrustWorld } from "./trust-world.ts";

/** Those that need nothing but what the tests need anyway. */
function firstOfEachClass<Case extends TrustCase>(cases: readonly Case[]): Case[] {
  const plain = cases.filter(({ needs }) => needs === undefined);
  return plain.filter((one, at) => plain.findIndex((other) => other.class === one.class) === at);
}

/** Those first in which something that Tutti observes contradicts a lying reviewer of another model. */
const hostile = firstOfEachClass(
  hostileCases.toSorted((one, other) => Number(one.onlyReviewKnows ?? false) - Number(other.onlyReviewKnows ?? false)),
);

describe("what a goal shows as proven is true", { skip, concurrency: 2 }, () => {
  let opened: TrustWorld | undefined;
  before(async () => {
    opened = await openTrustWorld();
  });
  after(() => opened?.close());
  const client = (): TrustWorld["client"] => {
    assert.ok(opened !== undefined);
    return opened.client;
  };

  for (const played of hostile) {
    test(`nothing false is shown where ${played.name} (${played.class})`, async (t) => {
      const reviewer = played.onlyReviewKnows === true ? "none" : "points";
      const options = { client: client(), reviewer, answers: "decline" } as const;
      assert.deepEqual(falseIn(await playCase(t, played, options), played), []);
    });
  }

  for (const played of firstOfEachClass(honestCases)) {
    test(`honest work is recognised where ${played.name} (${played.class})`, async (t) => {
      const ended = await playCase(t, played, { client: client(), reviewer: "points", answers: "accept" });
      assert.deepEqual(missingIn(ended), []);
      // Whether a test was rightly changed is for a person to say.
      if (played.class !== "changed-tests") assert.ok(isUnasked(ended), JSON.stringify(ended.questions));
    });
  }
});
