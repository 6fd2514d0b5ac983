import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { openState } from "../state/open-state.ts";
import { noticeOf } from "./notice.ts";

const example = (name: string): string =>
  readFileSync(join(import.meta.dirname, "../../../examples/invocations", `${name}.json`), "utf8");

test("the notice of an invocation is in words, and says failed if one of its targets has failed", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "tutti-notice-"));
  const state = await openState(join(folder, "state"));
  t.after(async () => {
    await state.close();
    rmSync(folder, { recursive: true });
  });
  const { client, view } = state;
  const noticeFor = async (name: string) => {
    const { task } = await client.invoke(example(name), { folder });
    await client.settled(task);
    const events = await client.events({ task, after: 0, limit: 1000 });
    const end = events.find((event) => event.task === task && event.type === "task.completed") ?? assert.fail();
    return noticeOf(end, { view, on: ["finished", "failed"], redact: (text) => text });
  };
  const [single, all, detached] = [await noticeFor("single"), await noticeFor("all"), await noticeFor("detached")];
  assert.equal(single?.kind, "finished");
  assert.doesNotMatch(single.text, /[{}]/);
  assert.deepEqual([all?.kind, all?.text], ["failed", "3 of 4 completed: that part of the map is missing"]);
  assert.deepEqual([detached?.kind, detached?.text], ["finished", ""]);
});
