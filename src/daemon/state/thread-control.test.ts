import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import { type Kit, openKit } from "../../../test/support/http-kit.ts";
import { failsWith } from "../../../test/support/try-tool.ts";
import { until } from "../../../test/support/wait-until.ts";
import type { Tutti } from "../../client/client.ts";
import { httpClient } from "../../client/http-client.ts";
import type { Started } from "../../protocol/api/task-shapes.ts";
import { all, named, single } from "../../protocol/invocation/invocation-builders.ts";
import { messageText } from "../../protocol/task/message.ts";

/** The agent says which of its replies in the conversation this is, and what it was asked. */
const rules = [
  { last: { regex: "wait$" }, turn: 0, ask: { question: "Go on?" } },
  { turn: 0, say: "1: {{user}}" },
  { last: { regex: "wait$" }, turn: 1, ask: { question: "Go on?" } },
  { turn: 1, say: "2: {{user}}" },
  { turn: 2, say: "3: {{user}}" },
  { turn: 3, say: "4: {{user}}" },
];

function file(prompt: string, thread: string | undefined, more: object = {}): string {
  return JSON.stringify({
    invocation: single(named("guide", prompt)),
    agents: { guide: { instructions: "Guide.", tools: ["ask"] } },
    script: { rules },
    ...(thread === undefined ? {} : { thread }),
    ...more,
  });
}

describe("a thread", () => {
  let kit: Kit;
  let here: Tutti;
  let there: Tutti;
  before(async () => {
    kit = await openKit();
    here = kit.state.client;
    there = httpClient({ url: kit.http.url, key: kit.key });
  });
  after(async () => {
    await there.close();
    await kit.close();
  });

  const start = (tutti: Tutti, thread: string | undefined, prompt: string, more?: object): Promise<Started> =>
    tutti.invoke(file(prompt, thread, more), { folder: kit.folder });
  const say = async (thread: string, prompt: string, tutti = there): Promise<{ started: Started; reply: unknown }> => {
    const started = await start(tutti, thread, prompt);
    const { content } = await tutti.result(started.task);
    return { started, reply: Object(content).result.content };
  };
  const texts = async (thread: string, limit?: number): Promise<string[]> => {
    const said: string[] = [];
    let cursor: string | undefined;
    for (let pages = 0; pages < 100; pages += 1) {
      const page = await there.threadMessages(thread, {
        ...(limit === undefined ? {} : { limit }),
        ...(cursor === undefined ? {} : { cursor }),
      });
      said.push(...page.messages.map(({ message }) => `${message.role} ${messageText(message)}`));
      if (page.next === null) return said;
      cursor = page.next;
    }
    return assert.fail("the pages have no end");
  };
  const idOf = (started: Started): string => started.thread ?? assert.fail("it was said into no thread");

  test("goes on after its task has ended, and is the same in process and over HTTP", async () => {
    const first = await say("a", "hello");
    assert.equal(first.reply, "1: hello");
    const second = await say("a", "and now?", here);
    assert.equal(second.reply, "2: and now?");
    const thread = idOf(first.started);
    assert.equal(idOf(second.started), thread);
    const third = await say(thread, "by its id");
    assert.equal(third.reply, "3: by its id");
    const said = ["user hello", "assistant 1: hello", "user and now?", "assistant 2: and now?", "user by its id"];
    for (const limit of [1, 2, 3, 100]) {
      assert.deepEqual(await texts(thread, limit), [...said, "assistant 3: by its id"]);
    }
    const view = await there.thread(thread);
    assert.deepEqual(await here.thread(thread), view);
    const { id, name, kind, about, tasks, last, forked_from } = view;
    assert.deepEqual(
      { id, name, kind, about, tasks, last, forked_from },
      {
        id: thread,
        name: "a",
        kind: "agent",
        about: "hello",
        tasks: 3,
        last: { task: third.started.task, status: "completed" },
        forked_from: null,
      },
    );
  });

  test("takes one message after the other: what is said while a task of it is not over is queued, in order", async () => {
    const first = await start(there, "busy", "wait");
    const second = await start(here, "busy", "impatient");
    const third = await start(there, "busy", "never mind");
    const fourth = await start(there, "busy", "patient");
    const same = await start(there, "busy", "wait");
    assert.deepEqual([same.task, same.existed, same.thread], [first.task, true, first.thread]);
    assert.deepEqual(
      [second, third, fourth].map(({ thread }) => thread),
      [first.thread, first.thread, first.thread],
    );
    const ask = await until(async () => (await there.asks(first.task))[0]?.id);
    await there.cancel(third.task, "not needed");
    await there.settled(third.task);
    for (const { task } of [second, fourth]) assert.equal((await there.task(task)).status, "pending");
    await there.answer(ask, { kind: "question", value: "yes" }, { kind: "person", name: "Ada" });
    // The reply after the answer was the second one of the agent.
    assert.equal(Object((await there.result(second.task)).content).result.content, "3: impatient");
    assert.equal(Object((await there.result(fourth.task)).content).result.content, "4: patient");
    const both = await Promise.all([start(here, "new", "wait"), start(here, "new", "and then")]);
    assert.equal((await there.thread(idOf(both[0]))).tasks, 2, "there is one thread with both tasks");
    await there.cancel(both[0].task, "enough");
    await there.result(both[1].task);
  });

  test("tells the next task that the work before it failed or was canceled", async () => {
    const first = await start(there, "stopped", "wait");
    await until(async () => (await there.asks(first.task))[0]);
    await there.cancel(first.task, "no more");
    await there.settled(first.task);
    const { started } = await say("stopped", "hello again");
    const [, child] = await there.tree(started.task);
    const seen = kit.state.engine.threads.of(started.task);
    assert.equal(seen, first.thread);
    const { historyBefore } = await import("./thread-messages.ts");
    const history = await historyBefore(kit.state.view, child?.id ?? "");
    assert.deepEqual(history.map(messageText), [
      "wait",
      "[The work on this ended here: it was canceled. Do not go on with it unless you are asked to.]",
    ]);
    assert.deepEqual(
      await historyBefore(kit.state.view, started.task),
      [],
      "only the task that answers sees the thread",
    );
    assert.equal((await there.thread(idOf(first))).last?.status, "completed");
  });

  test("belongs to one project: the same name elsewhere is another thread, and its id is refused there", async () => {
    const { started } = await say("mine", "secret of one project");
    const elsewhere = join(kit.folder, "other", ".git");
    mkdirSync(elsewhere, { recursive: true });
    const folder = join(kit.folder, "other");
    const other = await there.invoke(file("hello", "mine"), { folder });
    assert.notEqual(other.thread, started.thread);
    const { content } = await there.result(other.task);
    assert.equal(Object(content).result.content, "1: hello", "it sees nothing of the other project");
    const refused = failsWith("refused", /the thread mine belongs to the project .*; what was said there stays there/);
    await assert.rejects(there.invoke(file("hello", idOf(started)), { folder }), refused);
    const found = await there.threads({ named: "mine", project: folder });
    assert.deepEqual(
      found.threads.map(({ id }) => id),
      [other.thread],
    );
  });

  test("is forked at any message, and both go on by themselves", async () => {
    const { started } = await say("trunk", "one");
    await say("trunk", "two");
    const thread = idOf(started);
    const { messages } = await there.threadMessages(thread);
    const [, firstReply, secondAsked] = messages.map(({ message }) => message.id);
    const branch = await there.forkThread(thread, { message: firstReply ?? "", name: "branch" });
    assert.deepEqual([branch.forked_from, branch.tasks, branch.name], [thread, 1, "branch"]);
    assert.equal((await say("branch", "other")).reply, "2: other");
    assert.deepEqual(await texts(branch.id), ["user one", "assistant 1: one", "user other", "assistant 2: other"]);
    assert.equal((await say("trunk", "three")).reply, "3: three");
    const unanswered = await here.forkThread(thread, { message: secondAsked ?? "" });
    assert.deepEqual(await texts(unanswered.id), ["user one", "assistant 1: one", "user two"]);
    const copy = await there.forkThread(branch.id);
    assert.deepEqual(await texts(copy.id), await texts(branch.id));
    assert.equal((await say(copy.id, "deeper")).reply, "3: deeper");
    assert.equal((await texts(branch.id)).length, 4);
    const taken = failsWith("conflict", /there is a thread branch already/);
    await assert.rejects(there.forkThread(thread, { name: "branch" }), taken);
    const unknown = failsWith("not_found", /there is no message nowhere/);
    await assert.rejects(there.forkThread(thread, { message: "nowhere" }), unknown);
  });

  test("begins with a task that was in none, once", async () => {
    const { task } = await start(there, undefined, "alone");
    await there.result(task);
    const thread = await there.beginThread(task, { name: "adopted" });
    assert.deepEqual([thread.name, thread.tasks, thread.about], ["adopted", 1, "alone"]);
    assert.deepEqual(await here.beginThread(task), thread);
    assert.equal((await say("adopted", "more")).reply, "2: more");
    await assert.rejects(there.beginThread("tsk_0_1"), failsWith("not_found", /there is no task/));
  });

  test("of what an agent was asked last in a project is found, and a task that was in none begins it", async () => {
    const folder = join(kit.folder, "latest");
    mkdirSync(join(folder, ".git"), { recursive: true });
    const wanted = { agent: "guide", folder };
    await assert.rejects(
      there.latestThread(wanted),
      failsWith("not_found", /guide was not asked anything in .*latest/),
    );
    const { task } = await there.invoke(file("here", undefined), { folder });
    await there.result(task);
    await say("elsewhere", "later, in another project");
    const found = await there.latestThread(wanted);
    assert.deepEqual([found.about, found.tasks, found.project], ["here", 1, folder]);
    assert.deepEqual(await here.latestThread(wanted), found);
    await assert.rejects(
      there.latestThread({ agent: "nobody", folder }),
      failsWith("not_found", /nobody was not asked/),
    );
  });

  test("is said into once for each idempotency key, and a retry says the same again", async () => {
    const options = { folder: kit.folder, key: "say-1" };
    const first = await there.invoke(file("once", "keyed"), options);
    await there.result(first.task);
    const again = await there.invoke(file("once", "keyed"), options);
    assert.deepEqual([again.task, again.existed, again.thread], [first.task, true, first.thread]);
    const retried = await there.retry(first.task);
    const { content } = await there.result(retried.task);
    assert.equal(Object(content).result.content, "2: once");
    assert.equal((await there.thread(idOf(first))).tasks, 2);
  });

  test("takes one target whose caller waits, and an agent that sees what was said before", async () => {
    const several = { invocation: all([named("guide", "x"), named("guide", "y")]) };
    await assert.rejects(start(there, "many", "x", several), failsWith("invalid_input", /a thread takes one target/));
    const elsewhere = {
      invocation: single(named("guide", "x"), {
        executor: { kind: "force", type: "remote", runner: { kind: "operator", config: {} } },
      }),
    };
    await assert.rejects(
      start(there, "far", "x", elsewhere),
      failsWith("invalid_input", /its runner operator does not see/),
    );
    for (const name of ["tsk_1", " ", "two\nlines", "x".repeat(201)]) {
      await assert.rejects(start(there, name, "x"), failsWith("invalid_input", /thread/), name);
    }
    await assert.rejects(start(there, "thr_0_1", "x"), failsWith("not_found", /there is no thread thr_0_1/));
    const tooMany = (await there.threads({ named: "many" })).threads;
    assert.deepEqual(tooMany, [], "what was refused made no thread");
  });

  test("with the manager is a thread like any other to readers, and only the manager answers in it", async () => {
    const answers = [{ raw: JSON.stringify({ action: "final", message: "I am the manager." }) }];
    const conversation = await there.startConversation({ script: { rules: answers } });
    await there.converse(conversation, "Who are you?\nTell me.", { kind: "person", name: "Ada" });
    await until(async () => (await there.conversation(conversation)).turns[0]?.reply ?? undefined);
    const [thread] = (await there.threads()).threads;
    assert.deepEqual(
      [thread?.kind, thread?.about, thread?.tasks, thread?.last?.task],
      ["manager", "Who are you?", 1, conversation],
    );
    const said = await texts(thread?.id ?? "");
    assert.deepEqual(said, ["user Who are you?\nTell me.", "assistant I am the manager."]);
    const refused = failsWith("refused", /belongs to no project|is a conversation with the manager/);
    await assert.rejects(start(there, thread?.id, "x"), refused);
  });

  test("is read by viewers, who say nothing into it and make none; lists come in pages", async () => {
    const { started } = await say("watched", "hello");
    const { key } = await there.addKey({ name: "v", role: "viewer" });
    const viewer = httpClient({ url: kit.http.url, key });
    try {
      assert.equal((await viewer.threadMessages(idOf(started))).messages.length, 2);
      const refused = failsWith("refused", /role/);
      await assert.rejects(start(viewer, "watched", "let me in"), refused);
      await assert.rejects(viewer.forkThread(idOf(started)), refused);
      await assert.rejects(viewer.beginThread(started.task), refused);
      await assert.rejects(viewer.latestThread({ agent: "guide", folder: kit.folder }), refused);
      const whole = (await viewer.threads({ limit: 200 })).threads.map(({ id }) => id);
      const paged: string[] = [];
      for (let cursor: string | null | undefined; cursor !== null && paged.length < 1_000;) {
        const page = await viewer.threads({ limit: 3, ...(cursor === undefined ? {} : { cursor }) });
        paged.push(...page.threads.map(({ id }) => id));
        cursor = page.next;
      }
      assert.deepEqual(paged, whole);
      assert.equal(whole[0], started.thread, "what was said last comes first");
      await assert.rejects(viewer.thread("thr_0_1"), failsWith("not_found", /there is no thread/));
    } finally {
      await viewer.close();
    }
  });
});
