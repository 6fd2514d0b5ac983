import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";

import { type Kit, openKit } from "../../../test/support/http-kit.ts";
import { failsWith } from "../../../test/support/try-tool.ts";
import { until } from "../../../test/support/wait-until.ts";
import { httpClient } from "../../client/http-client.ts";
import type { Tutti } from "../../client/client.ts";
import { all, named, single } from "../../protocol/invocation/invocation-builders.ts";
import { messageText } from "../../protocol/task/message.ts";
import { idInName } from "../../store/names.ts";

const person = { kind: "person", name: "Ada" } as const;

/** It asks on its first turn, and says what it was told last. */
const agents = { a: { instructions: "a", tools: ["ask"] } };
const rules = [{ turn: 0, ask: { question: "Which?", choices: ["x", "y"] } }, { final: "heard: {{user}}" }];
const one = JSON.stringify({ invocation: single(named("a", "go")), agents, script: { rules } });
const two = JSON.stringify({ invocation: all([named("a", "go"), named("a", "go on")]), agents, script: { rules } });

async function sides(t: TestContext): Promise<{ kit: Kit; remote: Tutti }> {
  const kit = await openKit();
  t.after(() => kit.close());
  const remote = httpClient({ url: kit.http.url, key: kit.key });
  t.after(() => remote.close());
  return { kit, remote };
}

async function asked(remote: Tutti, text: string, folder: string): Promise<{ root: string; session: string }> {
  const { task: root } = await remote.invoke(text, { folder });
  await until(async () => (await remote.asks(root)).length > 0);
  return { root, session: (await remote.tree(root))[1]?.id ?? "" };
}

/** The question was withdrawn with its attempt, so the next attempt asks again. Returns how the task ended. */
async function answeredX(remote: Tutti, root: string): Promise<string> {
  const again = await until(async () => (await remote.asks(root))[0]);
  assert.deepEqual(await remote.answer(again.id, { kind: "question", value: "x" }, person), { accepted: true });
  return (await remote.result(root, AbortSignal.timeout(240_000))).status;
}

test("a session is observed, stopped and resumed through its invocation, and goes on with what was said", async (t) => {
  const { kit, remote } = await sides(t);
  const { root, session } = await asked(remote, one, kit.folder);
  const waiting = await remote.observe(root);
  assert.equal(waiting.task, session);
  assert.deepEqual([waiting.activity, waiting.summary, waiting.runner], ["waiting", "Which?", "local"]);
  assert.equal(waiting.ask, (await remote.asks())[0]?.id);
  assert.equal(await remote.stopTask(root, "lunch"), session);
  assert.deepEqual(
    (await remote.sessions()).map(({ task, activity }) => [task, activity]),
    [[session, "stopped"]],
  );
  const [ask] = await remote.asks();
  assert.match(ask?.question ?? "", /stopped: lunch\. Resume it\?/);
  await assert.rejects(remote.stopTask(root, "again"), failsWith("conflict", /stopped already/));
  assert.equal(await remote.resumeTask(root, person), session);
  assert.equal(await answeredX(remote, root), "completed");
  const { messages } = await remote.messages(session, { after: 0, limit: 50 });
  const said = messages.map(
    ({ attempt, message }) => `${attempt} ${message.role} ${messageText(message).slice(0, 22)}`,
  );
  assert.ok(said.includes("2 user A person stopped the w"), said.join("\n"));
  assert.equal((await remote.observe(session)).activity, "ended");
  assert.deepEqual(await remote.sessions(), []);
});

test("a message that interrupts is read at once, by the attempt that goes on", async (t) => {
  const { kit, remote } = await sides(t);
  const { root, session } = await asked(remote, one, kit.folder);
  const { store, feed } = kit.state;
  const wasOpen: boolean[] = [];
  const off = feed.subscribe((events) => {
    for (const { event } of events) {
      if (event.type !== "ask.raised" || !event.data.ask.question.includes("interrupted by a message")) continue;
      wasOpen.push(store.answer(idInName(store.salt, event.data.ask.id) ?? 0) === undefined);
    }
  });
  t.after(off);
  assert.equal(await remote.sendMessage(root, "take x", { interrupt: true }), session);
  assert.equal(await answeredX(remote, root), "completed");
  const { messages } = await remote.messages(session, { after: 0, limit: 50 });
  assert.ok(messages.some(({ attempt, message }) => attempt === 2 && messageText(message) === "take x"));
  await until(() => wasOpen.length > 0, "the ask is heard of");
  assert.deepEqual(wasOpen, [false], "whoever hears of the ask, as a notifier does, finds it answered");
});

test("an invocation with several sessions names them, and what a runner cannot do is refused by name", async (t) => {
  const { kit, remote } = await sides(t);
  const { root } = await asked(remote, two, kit.folder);
  await assert.rejects(
    remote.stopTask(root, "both"),
    failsWith("invalid_input", /several sessions; name one of them: tsk_/),
  );
  await remote.cancel(root, "enough");
  await assert.rejects(remote.sendMessage(root, "hello"), failsWith("refused", /cannot send: it is an invocation/));
  await assert.rejects(remote.resumeTask("tsk_0_1", person), failsWith("not_found", /there is no task/));
  const { key } = await remote.addKey({ name: "v", role: "viewer" });
  const viewer = httpClient({ url: kit.http.url, key });
  t.after(() => viewer.close());
  await assert.rejects(viewer.stopTask(root, "mine"), failsWith("refused", /role/));
  assert.deepEqual(await viewer.sessions(), []);
});
