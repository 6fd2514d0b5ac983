// Threads of a program: a conversation that goes on after its runs, in memory, over a restart, and with a daemon.
import assert from "node:assert/strict";
import { test } from "node:test";

import { openKit } from "../../test/support/http-kit.ts";
import { tempFolder } from "../../test/support/temp-folder.ts";
import { failsWith } from "../../test/support/try-tool.ts";
import { until } from "../../test/support/wait-until.ts";
import { agent, openTutti, type OpenTutti, type Run } from "../index.ts";
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

const asker = agent({
  name: "asker",
  instructions: "Ask.",
  tools: ["ask"],
  model: script({ ask: { question: "Go on?" } }, "asked", "and on"),
});

/** Says three things, of which the first waits for an answer. */
async function queue(tutti: OpenTutti): Promise<readonly Run<string>[]> {
  const thread = tutti.thread("queue");
  const runs = [
    await thread.say(asker, "number 0"),
    await thread.say(guide, "number 1"),
    await thread.say(guide, "number 2"),
  ];
  await until(async () => (await tutti.asks())[0]);
  return runs;
}

test("what is said while a run of the thread goes on is its next run, in memory and with a daemon", async () => {
  const inOrder = async (tutti: OpenTutti): Promise<void> => {
    const [first, second, third] = await queue(tutti);
    const [ask] = await tutti.asks();
    assert.equal((await tutti.runs({ open: true })).filter(({ status }) => status === "pending").length, 2);
    await ask?.answer("yes");
    assert.deepEqual(await Promise.all([first?.result(), second?.result(), third?.result()]), ["asked", "one", "two"]);
    assert.deepEqual(
      (await said(tutti, "queue")).filter((text) => text !== ""),
      ["number 0", "asked", "number 1", "one", "number 2", "two"],
    );
  };
  await using here = await openTutti({ memory: true, agents: [guide, asker] });
  await inOrder(here);
  const kit = await openKit();
  try {
    await using there = await openTutti({ url: kit.http.url, key: kit.key });
    await inOrder(there);
  } finally {
    await kit.close();
  }
});

test("a thread goes on after a restart, and what was queued in it keeps its order", async (t) => {
  const state = tempFolder(t);
  const first = await openTutti({ state, agents: [guide, asker] });
  const before = await queue(first);
  await first.close();
  await using second = await openTutti({ state, agents: [guide, asker] });
  const ask = await until(async () => (await second.asks())[0]);
  assert.equal((await second.runs({ open: true })).filter(({ status }) => status === "pending").length, 2);
  const last = await second.find(guide, before[2]?.task ?? "");
  await ask.answer("yes");
  assert.equal(await last.result(), "two");
  assert.deepEqual(
    (await said(second, "queue")).filter((text) => text !== ""),
    ["number 0", "asked", "number 1", "one", "number 2", "two"],
  );
  await assert.rejects(
    second.thread("unknown").fork(),
    failsWith("not_found", /nothing was said in the thread unknown/),
  );
});
