// Threads of a program: a conversation that goes on after its runs, in memory, over a restart, and with a daemon.
import assert from "node:assert/strict";
import { test } from "node:test";

import { openKit } from "../../test/support/http-kit.ts";
import { tempFolder } from "../../test/support/temp-folder.ts";
import { failsWith } from "../../test/support/try-tool.ts";
import { agent, openTutti, type OpenTutti } from "../index.ts";
import { messageText } from "../protocol/task/message.ts";
import { script } from "./testing.ts";

/** The replies are counted over the whole conversation. */
const guide = agent({ name: "guide", instructions: "Guide.", model: script("one", "two", "three", "four") });

async function said(tutti: OpenTutti, name: string): Promise<string[]> {
  return (await tutti.thread(name).messages()).messages.map(({ message }) => messageText(message));
}

async function talk(tutti: OpenTutti): Promise<void> {
  const support = tutti.thread("support-42");
  assert.deepEqual(await said(tutti, "support-42"), []);
  assert.equal(await (await support.say(guide, "first")).result(), "one");
  const again = await support.say(guide, "second", { key: "second" });
  assert.equal(await again.result(), "two");
  assert.equal((await support.say(guide, "second", { key: "second" })).task, again.task);
  assert.deepEqual(await said(tutti, "support-42"), ["first", "one", "second", "two"]);
  const { messages } = await support.messages();
  const branch = await support.fork({ message: messages[1]?.message.id ?? "", name: "branch" });
  assert.equal(await (await branch.say(guide, "another second")).result(), "two");
  assert.equal(await (await support.say(guide, "third")).result(), "three");
  assert.deepEqual(await said(tutti, "branch"), ["first", "one", "another second", "two"]);
  const [latest] = (await tutti.threads({ limit: 1 })).threads;
  assert.deepEqual([latest?.name, latest?.about, latest?.tasks], ["support-42", "first", 3]);
}

test("what is said in a thread begins with what was said before, in memory and with a daemon", async () => {
  await using here = await openTutti({ memory: true, agents: [guide] });
  await talk(here);
  const kit = await openKit();
  try {
    await using there = await openTutti({ url: kit.http.url, key: kit.key });
    await talk(there);
  } finally {
    await kit.close();
  }
});

test("a thread goes on after a restart, and takes one run after the other", async (t) => {
  const state = tempFolder(t);
  const first = await openTutti({ state, agents: [guide] });
  await (await first.thread("t").say(guide, "first")).result();
  await first.close();
  await using second = await openTutti({ state, agents: [guide] });
  const both = await Promise.allSettled([second.thread("t").say(guide, "a"), second.thread("t").say(guide, "b")]);
  const [run, refused] = both;
  assert.ok(run.status === "fulfilled" && refused.status === "rejected");
  assert.ok(failsWith("conflict", /of the thread t is not over/)(refused.reason));
  assert.equal(await run.value.result(), "two");
  await assert.rejects(
    second.thread("unknown").fork(),
    failsWith("not_found", /nothing was said in the thread unknown/),
  );
});
