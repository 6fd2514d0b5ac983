import assert from "node:assert/strict";
import { test } from "node:test";

import { anything, codeOf, started, world } from "../../test/support/engine-kit.ts";
import { tempFolder } from "../../test/support/temp-folder.ts";
import type { Durable } from "../ports.ts";

test("a loop is given what JSON keeps of its input, whether it was held in memory or read back", async (t) => {
  const w = world(tempFolder(t), { one: async (d) => d.input });
  t.after(() => w.stop());
  for (const length of [10, 999, 1_000, 100_000]) {
    const input = { text: "x".repeat(length), at: new Date(0), gone: undefined };
    const { content } = await w.engine.result(await started(w, "one", { input }));
    assert.deepEqual(content, { text: input.text, at: "1970-01-01T00:00:00.000Z" });
  }
});

test("a signal first looked at after the run is over is aborted, and every operation throws canceled", async (t) => {
  let kept: Durable | undefined;
  const w = world(tempFolder(t), {
    one: async (d) => {
      kept = d;
      return "done";
    },
  });
  t.after(() => w.stop());
  await w.engine.result(await started(w, "one"));
  assert.ok(kept !== undefined);
  assert.equal(kept.signal.aborted, true);
  assert.equal(await codeOf(kept.step("late", { repeatable: true, schema: anything }, () => 1)), "canceled");
});

test("a body is told its key and what was noted, and is heard while it runs", async (t) => {
  const heard: string[] = [];
  const w = world(
    tempFolder(t),
    {
      one: (d) =>
        d.step("work", { repeatable: true, schema: anything }, async (context) => {
          await context.note({ pid: 1 });
          context.live("text", "on my way");
          const { key, noted, signal } = context;
          return [key.endsWith("/1.1/work"), noted ?? null, signal.aborted];
        }),
    },
    { onLive: (delta) => heard.push(delta.text) },
  );
  t.after(() => w.stop());
  const { content } = await w.engine.result(await started(w, "one"));
  assert.deepEqual([content, heard], [[true, null, false], ["on my way"]]);
});
