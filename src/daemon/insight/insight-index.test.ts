import assert from "node:assert/strict";
import { test } from "node:test";

import { openKit } from "../../../test/support/http-kit.ts";
import { until } from "../../../test/support/wait-until.ts";
import { InsightIndex } from "./insight-index.ts";

const question = { kind: "errors", from: 0 } as const;

test("the index refuses questions when many are open, goes on, and begins anew after a start that failed", async (t) => {
  const kit = await openKit();
  t.after(() => kit.close());
  const { view, feed } = kit.state;
  let failures = 1;
  const index = new InsightIndex({
    folder: kit.folder,
    feed,
    view: {
      salt: view.salt,
      async lastEvent() {
        if (failures-- > 0) throw new Error("the disk was busy");
        return view.lastEvent();
      },
    },
    onError: (error) => assert.fail(String(error)),
  });
  t.after(() => index.close());
  await assert.rejects(index.ask(question), /the disk was busy/);
  await until(async () => (await index.ask(question).catch(() => undefined)) !== undefined);
  const asked = await Promise.allSettled(Array.from({ length: 500 }, () => index.ask(question)));
  const refused = asked.flatMap((each) => (each.status === "rejected" ? [String(each.reason)] : []));
  assert.ok(refused.length > 0 && refused.length < 500, `${refused.length} were refused`);
  assert.ok(refused.every((why) => why.includes("many searches and charts")));
  assert.deepEqual((await index.ask(question)).answer.errors, []);
});
