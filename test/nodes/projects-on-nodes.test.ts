// Work goes to the node that has its labels and its project, which may lie in another folder there.

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";

import { named, single } from "../../src/protocol/invocation/invocation-builders.ts";
import { messageText } from "../../src/protocol/task/message.ts";
import { person } from "../support/engine-kit.ts";
import { type ServingNode, serveNode } from "../support/serving-node.ts";
import { postgresPrograms } from "../support/postgres-server.ts";
import { newDatabase, sharedServer } from "../support/stores.ts";
import { type Cleanup, tempFolder } from "../support/temp-folder.ts";
import { failsWith } from "../support/try-tool.ts";
import { until } from "../support/wait-until.ts";

const skip = postgresPrograms() === undefined ? "PostgreSQL is not installed" : false;
after(() => {
  if (skip === false) sharedServer().stop();
});

interface Nodes {
  readonly a: ServingNode;
  readonly b: ServingNode;
  /** The folder of the project at the first node. */
  readonly folder: string;
}

/** Both have the project `web`, each in a folder of its own. */
async function twoNodes(t: Cleanup): Promise<Nodes> {
  const address = newDatabase();
  const top = tempFolder(t, "tutti-projects-");
  for (const each of ["a", "b"]) {
    mkdirSync(join(top, each, "web", ".git"), { recursive: true });
    writeFileSync(join(top, each, "web", "where.txt"), `this is ${each}\n`);
  }
  const [onA, onB] = [join(top, "a", "web"), join(top, "b", "web")];
  const a = await serveNode(t, address, { name: "a", projects: [`web=${onA}`] });
  const b = await serveNode(t, address, { name: "b", projects: [`web=${onB}`], labels: ["gpu"] });
  return { a, b, folder: onA };
}

const reading = { turn: 0, call: [{ tool: "read", args: { path: "where.txt" } }] };
const file = (rules: readonly object[], more: object = {}): string =>
  JSON.stringify({
    invocation: single(named("a", "Where are you?")),
    agents: { a: { instructions: "You look.", tools: ["read", "ask"] } },
    roots: ["."],
    script: { rules: [...rules, { final: "{{last}}" }] },
    ...more,
  });

test(
  "work that asks for a label is done where it is, in the folder that the project has there",
  { skip },
  async (t) => {
    const { a, folder } = await twoNodes(t);
    const { task } = await a.state.client.invoke(file([reading], { labels: ["gpu"] }), { folder });
    assert.match(JSON.stringify((await a.state.client.result(task)).content), /this is b/);
    const here = await a.state.client.invoke(file([reading]), { folder });
    assert.match(JSON.stringify((await a.state.client.result(here.task)).content), /this is a/);
    const again = await a.state.client.retry(task);
    assert.match(
      JSON.stringify((await a.state.client.result(again.task)).content),
      /this is b/,
      "it asks for it again",
    );
  },
);

test("work that has begun goes on at another node in the folder that its project has there", { skip }, async (t) => {
  const { a, b, folder } = await twoNodes(t);
  const asking = { turn: 0, ask: { question: "Shall I?" } };
  const { task } = await a.state.client.invoke(file([asking, { ...reading, turn: 1 }]), { folder });
  const ask = await until(async () => (await b.state.client.asks())[0], "it asks");
  await a.close();
  await b.state.client.answer(ask.id, { kind: "question", value: "yes" }, person);
  assert.match(JSON.stringify((await b.state.client.result(task)).content), /this is b/);
});

test("work that no node can do is shown as parked with the reason, and can be canceled", { skip }, async (t) => {
  const { a, folder } = await twoNodes(t);
  const { task } = await a.state.client.invoke(file([reading], { labels: ["tpu"] }), { folder });
  const { parked } = await a.state.client.status();
  assert.deepEqual(
    parked.map((each) => each.task),
    [task],
  );
  assert.match(parked[0]?.reason ?? "", /no node that is up has tpu/);
  assert.deepEqual(await a.state.client.cancel(task, "not needed"), [task]);
  assert.equal((await a.state.client.result(task)).status, "canceled");
  assert.deepEqual((await a.state.client.status()).parked, []);
  const missing = join(folder, "..", "missing");
  await assert.rejects(
    a.state.client.invoke(file([reading]), { folder: missing }),
    failsWith("not_found", /no folder/),
  );
});

test("a conversation of a named project that began at one node goes on at another", { skip }, async (t) => {
  const { a, b, folder } = await twoNodes(t);
  const there = folder.replace(/\/a\/web$/, "/b/web");
  const said = (text: string): string =>
    JSON.stringify({
      invocation: single(named("a", text)),
      agents: { a: { instructions: "You talk." } },
      thread: "talk",
      script: { rules: [{ final: "I heard: {{user}}" }] },
    });
  const first = await a.state.client.invoke(said("Hello from a."), { folder });
  await a.state.client.result(first.task);
  const second = await b.state.client.invoke(said("Hello from b."), { folder: there });
  assert.equal(second.thread, first.thread, "it is the same thread");
  await b.state.client.result(second.task);
  const texts = async ({ state }: ServingNode, project: string): Promise<string[]> => {
    const { threads } = await state.client.threads({ project });
    assert.deepEqual(
      threads.map((each) => [each.id, each.project, each.tasks]),
      [[first.thread, project, 2]],
      "each node shows the folder that the project has there",
    );
    const { messages } = await state.client.threadMessages(first.thread ?? "");
    return messages.map(({ message }) => messageText(message));
  };
  const all = await texts(a, folder);
  assert.deepEqual(await texts(b, there), all);
  assert.ok(all.includes("Hello from a.") && all.includes("Hello from b."));

  const alone = await a.state.client.invoke(said("Apart.").replace('"thread":"talk",', ""), { folder });
  await a.state.client.result(alone.task);
  const begun = await b.state.client.latestThread({ agent: "a", folder: there });
  assert.deepEqual([begun.last?.task, begun.project], [alone.task, there], "what was asked last is found there, too");
  const fork = await b.state.client.forkThread(first.thread ?? "", { name: "other" });
  assert.equal((await a.state.client.thread(fork.id)).project, folder);
  const third = await a.state.client.invoke(said("Again.").replace('"talk"', '"other"'), { folder });
  assert.equal(third.thread, fork.id);
});
