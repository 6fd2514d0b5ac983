import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test, type TestContext } from "node:test";

import { openTestState } from "../../../test/support/state-on-store.ts";
import { isOnPostgres } from "../../../test/support/stores.ts";
import { trustProjectIn } from "../../../test/support/trusted-project.ts";
import type { EventOrDelta, Tutti } from "../../client/client.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { State } from "./state.ts";
import { ownSalt } from "../../store/names.ts";

const example = (name: string): string =>
  readFileSync(join(import.meta.dirname, "../../../examples/invocations", `${name}.json`), "utf8");
const person = { kind: "person", name: "test" } as const;
const wrongKind = { accepted: false, code: "unknown" } as const;

function place(t: TestContext): { readonly folder: string; readonly open: () => Promise<State> } {
  const folder = mkdtempSync(join(tmpdir(), "tutti-local-"));
  const opened: State[] = [];
  t.after(async () => {
    for (const state of opened) await state.close();
    rmSync(folder, { recursive: true });
  });
  return {
    folder,
    async open() {
      const state = await openTestState(join(folder, "state"));
      opened.push(state);
      return state;
    },
  };
}

async function seqsOf(client: Tutti, options: Parameters<Tutti["follow"]>[0]): Promise<number[]> {
  const seqs: number[] = [];
  for await (const told of client.follow(options)) if ("event" in told) seqs.push(told.event.seq);
  return seqs;
}

async function firstAsk(client: Tutti, after: number): Promise<string> {
  const signal = AbortSignal.timeout(240_000);
  for await (const told of client.follow({ after, signal })) {
    if ("event" in told && told.event.type === "ask.raised") return told.event.data.ask.id;
  }
  throw new Error("nothing was asked");
}

const codeOf = async (work: Promise<unknown>): Promise<string | undefined> =>
  work.then(
    () => undefined,
    (thrown: unknown) => (thrown instanceof TuttiError ? thrown.code : String(thrown)),
  );

test("the same idempotency key gives the same task, while it runs, when it is over, and after a restart", async (t) => {
  const { folder, open } = place(t);
  const first = await open();
  const text = example("single");
  const at = { folder, key: "order-1" };
  const [one, two] = await Promise.all([first.client.invoke(text, at), first.client.invoke(text, at)]);
  assert.deepEqual([one.existed !== two.existed, one.task], [true, two.task]);
  await first.client.settled(one.task);
  assert.equal((await first.client.invoke(text, at)).task, one.task);
  await first.close();
  const second = await open();
  assert.deepEqual(await second.client.invoke(text, at), { ...one, existed: true });
  assert.equal((await second.client.tasks()).tasks.length, 1);
});

test("an idempotency key with another invocation is a conflict, also while the first is being made", async (t) => {
  const { folder, open } = place(t);
  const { client } = await open();
  const made = client.invoke(example("single"), { folder, key: "k" });
  assert.equal(await codeOf(client.invoke(example("all"), { folder, key: "k" })), "conflict");
  await made;
  assert.equal(await codeOf(client.invoke(example("all"), { folder, key: "k" })), "conflict");
  assert.equal((await client.tasks()).tasks.length, 1);
});

test("how a file is set out does not make it another invocation", async (t) => {
  const { folder, open } = place(t);
  const { client } = await open();
  const made = await client.invoke(example("ask"), { folder });
  const again = await client.invoke(JSON.stringify(JSON.parse(example("ask"))), { folder });
  assert.deepEqual(again, { ...made, existed: true });
});

test("a follower sees every event of a tree once and in order, wherever it begins (invariant 9)", async (t) => {
  const { folder, open } = place(t);
  const { client } = await open();
  const { task } = await client.invoke(example("all"), { folder });
  const live = await seqsOf(client, { task });
  const stored = (await client.events({ task, after: 0, limit: 1000 })).map((event) => event.seq);
  assert.deepEqual(live, stored);
  const after = stored[3] ?? 0;
  assert.deepEqual(await seqsOf(client, { task, after }), stored.slice(4));
});

test("a follower of everything goes on until it is told to stop, with text on its way beside the events", async (t) => {
  const { folder, open } = place(t);
  const { client } = await open();
  const stop = new AbortController();
  const seen: EventOrDelta[] = [];
  const following = (async () => {
    for await (const told of client.follow({ live: true, signal: stop.signal })) seen.push(told);
  })();
  for (const name of ["single", "all"]) await client.settled((await client.invoke(example(name), { folder })).task);
  const last = (await client.status()).seq;
  const caughtUp = (): boolean => seen.some((told) => "event" in told && told.event.seq === last);
  for (let wait = 0; !caughtUp() && wait < 500; wait += 1) await new Promise((resolve) => setTimeout(resolve, 10));
  stop.abort();
  await following;
  const seqs = seen.flatMap((told) => ("event" in told ? [told.event.seq] : []));
  assert.deepEqual(
    seqs,
    (await client.events({ after: 0, limit: 1000 })).map((event) => event.seq),
  );
  assert.ok(seen.some((told) => "live" in told));
});

test("an ask is answered as an ask, a client's tool as a tool, and neither by the other's door", async (t) => {
  const { folder, open } = place(t);
  const { client } = await open();
  const { task } = await client.invoke(example("ask"), { folder });
  const ask = await firstAsk(client, 0);
  assert.deepEqual(
    (await client.asks(task)).map(({ id }) => id),
    [ask],
  );
  const refused = await client.settle(ask, "red", person);
  assert.deepEqual({ ...refused, message: "" }, { ...wrongKind, message: "" });
  const bad = await client.answer(ask, { kind: "question", value: "green" }, person);
  assert.equal(bad.accepted ? "" : bad.code, "invalid");
  assert.deepEqual(await client.answer(ask, { kind: "question", value: "red" }, person), { accepted: true });
  const late = await client.answer(ask, { kind: "question", value: "blue" }, person);
  assert.equal(late.accepted ? "" : late.code, "late");
  await client.cancel(task, "enough");
  assert.deepEqual(await client.asks(task), []);
});

test("a task's view says the same in a page, in its tree and alone; pages neither miss nor repeat", async (t) => {
  const { folder, open } = place(t);
  const { client } = await open();
  for (let count = 0; count < 5; count += 1) {
    await client.settled((await client.invoke(example("single"), { folder, anew: true })).task);
  }
  const all = (await client.tasks({ roots: false, limit: 200 })).tasks;
  const paged: string[] = [];
  for (let cursor: string | null = ""; cursor !== null;) {
    const page = await client.tasks({ roots: false, limit: 3, ...(cursor === "" ? {} : { cursor }) });
    paged.push(...page.tasks.map(({ id }) => id));
    cursor = page.next;
  }
  assert.deepEqual(
    paged,
    all.map(({ id }) => id),
  );
  const [root] = (await client.tasks({ limit: 1 })).tasks;
  const { asked, tree_tokens, tree_money_micro_usd, operator_requests, ...rest } = root ?? assert.fail();
  assert.deepEqual([asked.targets, asked.failed, asked.canceled, operator_requests], [1, 0, 0, 0]);
  assert.ok(Number(tree_tokens) >= 0 && Number(tree_money_micro_usd) >= 0);
  const { open: unfinished, ...view } = rest;
  assert.equal(unfinished, 0);
  const { result, ...alone } = await client.task(view.id);
  const { result_preview, ...listed } = view;
  assert.deepEqual(alone, listed);
  assert.equal(JSON.stringify(result).slice(0, 400), result_preview?.text);
  assert.deepEqual((await client.tree(view.id))[0], view);
  assert.equal((await client.tasks({ parent: view.id })).tasks.length, (await client.tree(view.id)).length - 1);
});

test("a secret of the environment that a command prints is in no event, message, step or result", async (t) => {
  const secret = "hunter2-hunter2-hunter2";
  process.env["MY_SERVICE_TOKEN"] = secret;
  t.after(() => delete process.env["MY_SERVICE_TOKEN"]);
  const { folder, open } = place(t);
  const { client } = await open();
  const file = JSON.parse(example("command"));
  file.invocation.executor.runner.config.argv = ["node", "-e", `console.log(${JSON.stringify(secret)})`];
  const { task } = await client.invoke(JSON.stringify(file), { folder });
  await client.settled(task);
  const tree = await client.tree(task);
  const told = JSON.stringify([
    tree,
    await client.events({ task, after: 0, limit: 1000 }),
    ...(await Promise.all(tree.map(({ id }) => client.steps(id, {})))),
    await client.result(task),
  ]);
  assert.ok(told.includes("[redacted:MY_SERVICE_TOKEN]"));
  assert.ok(!told.includes(secret));
});

test("a tree is worked on with the config of the project it was started in, as it is now", async (t) => {
  const { folder, open } = place(t);
  const { client } = await open();
  const config = join(folder, "tutti.config.json");
  writeFileSync(config, JSON.stringify({ nonsense: true }));
  await trustProjectIn(join(folder, "state"), folder);
  assert.equal(await codeOf(client.invoke(example("single"), { folder })), "invalid_input");
  writeFileSync(config, JSON.stringify({ approvals: {} }));
  await trustProjectIn(join(folder, "state"), folder);
  const { task } = await client.invoke(example("single"), { folder });
  assert.equal((await client.result(task)).status, "completed");
});

test("work that is paused is taken and does not begin; resumed, it goes on, also by the next process", async (t) => {
  const { folder, open } = place(t);
  const first = await open();
  await first.client.pause();
  const { task } = await first.client.invoke(example("single"), { folder });
  assert.deepEqual((await first.client.status()).tasks, { pending: 1, running: 0, input_required: 0 });
  await first.close();
  const second = await open();
  assert.equal((await second.client.status()).paused, true);
  assert.equal((await second.client.task(task)).status, "pending");
  await second.client.resume();
  assert.equal((await second.client.result(task, AbortSignal.timeout(240_000))).status, "completed");
});

test("what waits for an operator is settled by nobody else, however its name is written", async (t) => {
  const { folder, open } = place(t);
  const { client, store, view } = await open();
  const { invocation, agents } = JSON.parse(example("single"));
  const executor = { kind: "force", type: "remote", runner: { kind: "operator", config: {} } };
  const file = { invocation: { ...invocation, executor }, agents, operators: { gate: "boss" } };
  await client.invoke(JSON.stringify(file), { folder });
  for (let wait = 0; store.openWaits().length === 0 && wait < 500; wait += 1)
    await new Promise((resolve) => setTimeout(resolve, 10));
  const place36 = store.openWaits()[0]?.id.toString(36) ?? assert.fail();
  for (const name of [
    `ask_${ownSalt(view.salt)}_${place36}`,
    `ask_${ownSalt(view.salt)}_0${place36}`,
    `tsk_${ownSalt(view.salt)}_${place36}`,
  ]) {
    const settled = await client.settle(name, { ok: true }, person).catch((thrown: unknown) => thrown);
    const answered = await client
      .answer(name, { kind: "question", value: "yes" }, person)
      .catch((thrown: unknown) => thrown);
    for (const told of [settled, answered]) assert.notDeepEqual(told, { accepted: true }, name);
  }
  assert.equal(store.openWaits()[0]?.key, "gate.before");
});

test("the same invocation in another project is other work, and its key cannot be taken for it", async (t) => {
  const { folder, open } = place(t);
  const { client } = await open();
  const { roots: _, ...file } = JSON.parse(example("ask"));
  const text = JSON.stringify(file);
  const [here, there] = [join(folder, "here"), join(folder, "there")];
  for (const project of [here, there]) mkdirSync(join(project, ".git"), { recursive: true });
  const first = await client.invoke(text, { folder: here });
  assert.equal((await client.invoke(text, { folder: here })).existed, true);
  const second = await client.invoke(text, { folder: there });
  assert.deepEqual([second.existed, second.task === first.task], [false, false]);
  await client.invoke(text, { folder: here, key: "k" });
  assert.equal(await codeOf(client.invoke(text, { folder: there, key: "k" })), "conflict");
});

test("invocations that are to be started anew at the same time are as many", async (t) => {
  const { folder, open } = place(t);
  const { client } = await open();
  const text = example("ask");
  const made = await Promise.all([1, 2, 3].map(() => client.invoke(text, { folder, anew: true })));
  assert.equal(new Set(made.map(({ task }) => task)).size, 3);
  assert.deepEqual(
    made.map(({ existed }) => existed),
    [false, false, false],
  );
});

// In a cluster the tree waits for a node that has the project, and `tutti status` says so.
const ofOneMachine = { skip: isOnPostgres() && "there the tree is parked" };

test(
  "a tree whose project is gone is asked about, not gone on with as if it had no config",
  ofOneMachine,
  async (t) => {
    const { folder, open } = place(t);
    const first = await open();
    const project = join(folder, "project");
    const restore = async (): Promise<void> => {
      mkdirSync(join(project, ".git"), { recursive: true });
      writeFileSync(join(project, "tutti.config.json"), JSON.stringify({ approvals: {} }));
      await trustProjectIn(join(folder, "state"), project);
    };
    await restore();
    await first.client.pause();
    const { task } = await first.client.invoke(example("single"), { folder: project });
    await first.close();
    rmSync(project, { recursive: true });
    const { client } = await open();
    await client.resume();
    const ask = await firstAsk(client, 0);
    const [asked] = await client.asks();
    assert.match(asked?.question ?? "", /project/);
    assert.ok(asked?.question.includes(project));
    await restore();
    await client.answer(ask, { kind: "approval", approved: true }, person);
    assert.equal((await client.result(task, AbortSignal.timeout(240_000))).status, "completed");
  },
);

test("the rules of a project hold although its folder is called like a secret", async (t) => {
  process.env["DATABASE_PASSWORD"] = "petshop-db";
  t.after(() => delete process.env["DATABASE_PASSWORD"]);
  const { folder, open } = place(t);
  const { client } = await open();
  const project = join(folder, "petshop-db");
  mkdirSync(project);
  writeFileSync(join(project, "tutti.config.json"), JSON.stringify({ approvals: { write: "ask" } }));
  await trustProjectIn(join(folder, "state"), project);
  const { task } = await client.invoke(example("single"), { folder: project });
  const ask = await firstAsk(client, 0);
  assert.match((await client.asks())[0]?.question ?? "", /May writer write this file/);
  await client.answer(ask, { kind: "approval", approved: true }, person);
  assert.equal((await client.result(task, AbortSignal.timeout(240_000))).status, "completed");
});

/** Followed up to its first question, where it stays. */
async function followedToQuestion(state: State, folder: string): Promise<AsyncIterator<EventOrDelta>> {
  const { task } = await state.client.invoke(example("ask"), { folder });
  const following = state.client.follow({ task })[Symbol.asyncIterator]();
  for (let told = await following.next(); told.done !== true; told = await following.next()) {
    if ("event" in told.value && told.value.event.type === "task.input_required") return following;
  }
  throw new Error("nothing was asked");
}

test("a following ends when the client is closed", async (t) => {
  const { folder, open } = place(t);
  const state = await open();
  const next = (await followedToQuestion(state, folder)).next();
  await state.client.close();
  assert.equal((await next).done, true);
});

// What a node does when it can write nothing more is in test/cluster.
const ofFile = { skip: isOnPostgres() && "breaks the file of an embedded state" };

test(
  "a following fails when the state can no longer be written, also while nothing else happens",
  ofFile,
  async (t) => {
    const { folder, open } = place(t);
    const state = await open();
    const next = codeOf((await followedToQuestion(state, folder)).next());
    using database = new DatabaseSync(join(folder, "state", "tutti.db"));
    database.exec("ALTER TABLE log RENAME TO gone");
    await codeOf(state.client.invoke(example("single"), { folder }));
    assert.equal(await next, state.store.failure?.code);
    assert.notEqual(await next, undefined);
  },
);
