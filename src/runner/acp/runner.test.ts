import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { type AcpWorld, acpWorld, processesOf } from "../../../test/support/acp-kit.ts";
import { until } from "../../../test/support/wait-until.ts";
import type { Answer } from "../../protocol/task/ask.ts";
import type { TaskEvent } from "../../protocol/task/event.ts";
import { userMessage } from "../../protocol/task/message.ts";

type OfType<T extends TaskEvent["type"]> = Extract<TaskEvent, { type: T }>["data"][];

async function data<T extends TaskEvent["type"]>(world: AcpWorld, type: T): Promise<OfType<T>> {
  const all = await world.events();
  return all.flatMap((event) => (event.type === type ? [event.data] : [])) as OfType<T>;
}

/** The open ask, once there is one. */
async function asked(world: AcpWorld): Promise<{ id: string; question: string }> {
  return until(async () => {
    const settled = new Set(
      (await world.events()).flatMap((event) =>
        event.type === "ask.answered" || event.type === "ask.withdrawn" || event.type === "ask.expired"
          ? [event.data.ask]
          : [],
      ),
    );
    const open = (await data(world, "ask.raised")).find(({ ask }) => !settled.has(ask.id));
    return open === undefined ? undefined : { id: open.ask.id, question: open.ask.question };
  });
}

async function answer(world: AcpWorld, given: Answer): Promise<string> {
  const { id, question } = await asked(world);
  const delivery = await world.engine.deliver(id, given, { kind: "person", name: "Ada" });
  assert.equal(delivery.outcome, "accepted", JSON.stringify(delivery));
  return question;
}

const yes: Answer = { kind: "approval", approved: true };
const no: Answer = { kind: "approval", approved: false };
const failureOf = (content: unknown): string => JSON.stringify(content);

const edit = (path: string) => ({
  toolCallId: "c1",
  title: "Edit a file",
  kind: "edit",
  status: "pending",
  content: [{ type: "diff", path, oldText: "old\n", newText: "new\n" }],
});

describe("a session over the Agent Client Protocol", { concurrency: 2 }, () => {
  test("a prompt goes in once, its output becomes messages and events, and the last text is the result", async (t) => {
    const world = await acpWorld(t);
    const call = { toolCallId: "t1", title: "List", kind: "search", status: "in_progress", rawInput: { path: "." } };
    const result = await world.run([
      { echo: "an echo of the prompt" },
      { think: "hm, " },
      { think: "a thought" },
      { say: "I look " },
      { say: "around." },
      { update: { sessionUpdate: "tool_call", ...call } },
      {
        update: {
          sessionUpdate: "tool_call_update",
          toolCallId: "t1",
          status: "completed",
          content: [{ type: "content", content: { type: "text", text: "two files" } }],
        },
      },
      { update: { sessionUpdate: "plan", entries: [] } },
      { update: { sessionUpdate: "something_new", field: 1 } },
      { cost: 0.25 },
      { cost: 0.4 },
      { answer: { stopReason: "end_turn", usage: { inputTokens: 30, outputTokens: 12, totalTokens: 42 } } },
      { say: "Done." },
    ]);
    assert.deepEqual([result.status, result.content], ["completed", "Done."]);
    assert.equal(world.ledger("prompts").length, 1);
    assert.deepEqual(world.ledger("modes"), ["asking"]);
    const [first = "", ...said] = await world.messages();
    assert.match(first, /^user: /);
    assert.deepEqual(said, [
      "assistant: I look around.",
      'assistant: search {"path":"."}',
      'tool: search [{"part_type":"text","data":"two files"}]',
      "assistant: Done.",
    ]);
    const kinds = (await data(world, "session.updated")).map(({ kind }) => kind);
    assert.deepEqual(kinds, ["thought", "plan", "something_new"]);
    const types = (await world.events()).map(({ type }) => type).filter((type) => type.startsWith("session."));
    assert.equal(types[0], "session.started");
    assert.equal(types[1], "session.prompted");
    assert.deepEqual(types.slice(-2), ["session.answered", "session.ended"]);
    const spent = (await data(world, "budget.settled")).map((each) => each.spent);
    assert.deepEqual(
      spent.map((each) => [each.input_tokens + each.output_tokens, each.money_micro_usd]),
      [
        [0, 250_000],
        [0, 150_000],
        [42, 0],
      ],
    );
  });

  test("tokens that an agent counts for each prompt in _meta.quota are booked; counts that cannot be used are not", async (t) => {
    const world = await acpWorld(t);
    const answer = (input_tokens: unknown) => ({
      answer: { stopReason: "end_turn", _meta: { quota: { token_count: { input_tokens, output_tokens: 5 } } } },
    });
    const name = await world.start([answer(30), { sleep: 300 }, { say: "first" }]);
    await until(() => world.ledger("prompts").length === 1);
    for (const second of [40, "many"]) await world.engine.message(name, userMessage(JSON.stringify([answer(second)])));
    assert.equal((await world.engine.result(name)).status, "completed");
    const spent = (await data(world, "budget.settled")).map((each) => [
      each.spent.input_tokens,
      each.spent.output_tokens,
    ]);
    assert.deepEqual(spent, [
      [30, 5],
      [40, 5],
    ]);
  });

  test("a permission that the policy asks about reaches a person with the exact change, and a no changes nothing", async (t) => {
    const world = await acpWorld(t);
    const file = join(world.work, "a.txt");
    writeFileSync(file, "old\n");
    const name = await world.start([{ permit: edit(file), then: [{ write: file, text: "new\n" }] }, { say: "ok" }]);
    const question = await answer(world, no);
    assert.match(question, /change files/);
    assert.match(question, /-old\n\+new/);
    assert.equal((await world.engine.result(name)).content, "ok");
    assert.deepEqual(world.ledger("permissions"), [{ outcome: { outcome: "selected", optionId: "no" } }]);
    assert.equal(readFileSync(file, "utf8"), "old\n");
    const statuses = (await world.events()).map(({ type }) => type);
    assert.ok(statuses.includes("task.input_required") && statuses.includes("task.resumed"));
  });

  test("an agent that gives its turn up when it is denied something fails the task", async (t) => {
    const world = await acpWorld(t, { behaviour: { givesUp: true } });
    const name = await world.start([{ permit: edit(join(world.work, "a.txt")) }, { say: "not reached" }]);
    await answer(world, no);
    assert.match(failureOf((await world.engine.result(name)).content), /gave up its turn when it was not permitted/);
  });

  test("two permissions at the same time are two asks; a yes allows once, never for good", async (t) => {
    const world = await acpWorld(t);
    const name = await world.start([{ permitTwice: edit(join(world.work, "a.txt")) }]);
    await answer(world, yes);
    await answer(world, no);
    await world.engine.result(name);
    const chosen = world.ledger("permissions").map((each) => JSON.stringify(each));
    assert.deepEqual(chosen.toSorted(), [
      '{"outcome":{"outcome":"selected","optionId":"no"}}',
      '{"outcome":{"outcome":"selected","optionId":"yes"}}',
    ]);
  });

  test("a request's own words make it no freer: what claims to read and shows a change is a change", async (t) => {
    const world = await acpWorld(t, { runner: { approvals: [{ from: "user", rules: freeToRun }] } });
    const file = join(world.work, "a.txt");
    const onlyAlways = [
      { optionId: "always", name: "Always", kind: "allow_always" },
      { optionId: "never", name: "Never", kind: "reject_always" },
    ];
    await world.run([
      { permit: { ...edit(file), kind: "read", title: "Read a.txt" } },
      { permit: { toolCallId: "c2", kind: "read", rawInput: { path: file } } },
      { permit: { toolCallId: "c3", kind: "read", rawInput: { path: file } }, options: onlyAlways },
      { permit: { toolCallId: "c4", kind: "harmless", rawInput: {} } },
    ]);
    assert.deepEqual(
      world.ledger("permissions").map((each) => Object(each).outcome.optionId),
      ["no", "yes", "never", "no"],
    );
  });

  test("file requests are served in the workspace, and neither outside of it nor for protected files", async (t) => {
    const world = await acpWorld(t, {
      runner: { approvals: [{ from: "user", rules: { ...freeToRun, write: "free" } }] },
    });
    writeFileSync(join(world.work, "a.txt"), "one\ntwo\nthree\n");
    const read = (path: string, more = {}) => ({
      rpc: "fs/read_text_file",
      params: { sessionId: "s-1", path, ...more },
    });
    const write = (path: string) => ({ rpc: "fs/write_text_file", params: { sessionId: "s-1", path, content: "x" } });
    await world.run([
      read(join(world.work, "a.txt"), { line: 2, limit: 1 }),
      read("/etc/passwd"),
      read(join(world.work, "..", "state", "tutti.db")),
      write(join(world.work, "new.txt")),
      write(join(world.work, "..", "out.txt")),
      write(join(world.work, ".git", "hooks", "pre-commit")),
      { rpc: "fs/unknown", params: {} },
      { rpc: "fs/read_text_file", params: { path: 7 } },
    ]);
    const answers = world.ledger("answers").map((each) => Object(each));
    assert.equal(answers[0].result.content, "two");
    assert.deepEqual(
      answers.map(({ error }) => (error === undefined ? 0 : error.code)),
      [0, -32_000, -32_000, 0, -32_000, -32_000, -32_601, -32_602],
    );
    assert.equal(readFileSync(join(world.work, "new.txt"), "utf8"), "x");
    assert.equal(existsSync(join(world.work, "..", "out.txt")), false);
    assert.equal(existsSync(join(world.work, ".git")), false);
  });

  test("a terminal runs a program in the workspace and ends with the session", async (t) => {
    const world = await acpWorld(t, { runner: { approvals: [{ from: "user", rules: freeToRun }] } });
    const shell = (script: string, more = {}) => ({
      rpc: "terminal/create",
      params: { sessionId: "s-1", command: "/bin/sh", args: ["-c", script], ...more },
    });
    const of = (method: string, terminalId: string) => ({ rpc: method, params: { sessionId: "s-1", terminalId } });
    const name = await world.start([
      shell("echo $HOME; pwd; exit 3"),
      of("terminal/wait_for_exit", "terminal-1"),
      { sleep: 50 },
      of("terminal/output", "terminal-1"),
      shell("true", { cwd: "/etc" }),
      shell(`sleep 600; : ${world.work}`),
      { say: "done" },
    ]);
    await world.engine.result(name);
    const [created, exited, output, outside] = world.ledger("answers").map((each) => Object(each));
    assert.equal(created.result.terminalId, "terminal-1");
    assert.equal(exited.result.exitCode, 3);
    assert.match(output.result.output, new RegExp(`^.*/homes/.*\\n${world.work}\\n$`));
    assert.match(outside.error.message, /outside of what the task may touch/);
    assert.deepEqual(processesOf(world.work), []);
  });

  test("nothing of the environment leaks, and the session has a home of its own that does not stay", async (t) => {
    process.env["TUTTI_TEST_SECRET"] = "hunter2";
    process.env["TUTTI_TEST_KEY"] = "passed";
    t.after(() => {
      delete process.env["TUTTI_TEST_SECRET"];
      delete process.env["TUTTI_TEST_KEY"];
    });
    const world = await acpWorld(t, {
      profile: {
        pass_env: ["TUTTI_TEST_KEY"],
        files: { ".agent/settings.json": "{}" },
        model: { env: { AGENT_MODEL: "{model}" } },
      },
    });
    const runner = { kind: "acp", config: { profile: "scripted", model: "large-1" } };
    const name = await world.start([{ environment: true }], { runner });
    await world.engine.result(name);
    const [environment] = world.ledger("environment").map((each) => Object(each));
    assert.equal(environment.TUTTI_TEST_KEY, "passed");
    assert.equal(environment.AGENT_MODEL, "large-1");
    const allowed = [
      "PATH",
      "LANG",
      "LC_ALL",
      "LC_CTYPE",
      "TZ",
      "TERM",
      "HOME",
      "TMPDIR",
      "PWD",
      "OLDPWD",
      "SHLVL",
      "_",
    ];
    const extra = ["TUTTI_TEST_KEY", "AGENT_MODEL", "TUTTI_STEP"];
    assert.deepEqual(
      Object.keys(environment).filter((key) => ![...allowed, ...extra].includes(key)),
      [],
    );
    assert.match(environment.HOME, /\/homes\//);
    assert.equal(existsSync(environment.HOME), false);
  });

  test("a message to a live session becomes its next prompt", async (t) => {
    const world = await acpWorld(t);
    const name = await world.start([{ sleep: 400 }, { say: "first" }]);
    await until(() => world.ledger("prompts").length === 1);
    await world.engine.message(name, userMessage('[{"say":"second"}]'));
    assert.equal((await world.engine.result(name)).content, "second");
    assert.equal(world.ledger("prompts").length, 2);
    assert.equal((await data(world, "session.prompted")).length, 2);
  });

  test("a cancel reaches the session first; then the whole tree of processes ends, detached children too", async (t) => {
    const world = await acpWorld(t, { behaviour: { ignoresTerm: true, ignoresCancel: true } });
    const name = await world.start([{ fork: true }, { say: "working" }, { hang: true }]);
    await until(() => processesOf(world.work).length >= 2);
    await world.engine.cancel(name, "enough");
    await until(() => processesOf(world.work).length === 0);
    assert.deepEqual(world.ledger("canceled"), [true]);
    assert.equal((await world.engine.result(name)).status, "canceled");
  });

  test("a kill ends the whole tree of processes without asking, and returns when they are gone", async (t) => {
    const times = { cancelMs: 60_000, graceMs: 60_000 };
    const world = await acpWorld(t, { behaviour: { ignoresTerm: true, ignoresCancel: true }, runner: { times } });
    const name = await world.start([{ fork: true }, { say: "working" }, { hang: true }]);
    await until(() => processesOf(world.work).length >= 2);
    assert.deepEqual(await world.engine.kill(name, "enough"), [name]);
    assert.deepEqual(processesOf(world.work), []);
    assert.deepEqual(world.ledger("canceled"), []);
    assert.equal((await world.engine.result(name)).status, "canceled");
    assert.deepEqual(await world.engine.kill(name, "again"), []);

    const early = await acpWorld(t, { behaviour: { ignoresTerm: true, ignoresCancel: true } });
    const ending = await early.start([{ hang: true }]);
    await until(() => early.ledger("prompts").length === 1);
    await early.engine.cancel(ending, "enough");
    assert.deepEqual(await early.engine.kill(ending, "now"), []);
    assert.deepEqual(processesOf(early.work), [], "it waits for the processes of a task that was canceled before");
  });

  test("a deadline ends the session, but not while a person is asked", async (t) => {
    const world = await acpWorld(t);
    const deadline = Date.now() + 12_000;
    const name = await world.start([{ permit: edit(join(world.work, "a")) }, { hang: true }], { deadline });
    await asked(world);
    await sleep(deadline + 500 - Date.now());
    await answer(world, yes);
    const result = await world.engine.result(name);
    assert.deepEqual([result.status, Object(result.content).code], ["failed", "deadline"]);
    assert.equal(world.ledger("permissions").length, 1);
    await until(() => processesOf(world.work).length === 0);
  });

  test("silence is told and asked about; an update withdraws the question, and stop ends the session", async (t) => {
    const world = await acpWorld(t, { runner: { times: { stallMs: 150 } } });
    const name = await world.start([{ sleep: 600 }, { say: "back" }, { hang: true }]);
    await until(async () => (await data(world, "ask.withdrawn")).length === 1);
    assert.match(await answer(world, { kind: "question", value: "stop" }), /has said nothing for/);
    const result = await world.engine.result(name);
    assert.match(failureOf(result.content), /silent for too long/);
    assert.equal((await data(world, "session.stalled")).length, 2);
  });

  test("an agent that dies fails the task with what it said last, and leaves nothing behind", async (t) => {
    const world = await acpWorld(t);
    const result = await world.run([{ fork: true }, { stderr: "a\nout of luck\n" }, { sleep: 50 }, { exit: 3 }]);
    assert.equal(result.status, "failed");
    assert.match(failureOf(result.content), /ended with exit status 3: out of luck/);
    assert.deepEqual(processesOf(world.work), []);
  });

  test("bad frames are kept and survived; too many of them, and a line without an end, are not", async (t) => {
    const world = await acpWorld(t);
    const some = await world.run([
      { raw: "not json" },
      { raw: "[1]" },
      { raw: '{"id":99,"result":1}' },
      { say: "fine" },
    ]);
    assert.equal(some.content, "fine");
    const bad = (await data(world, "session.updated")).filter(({ kind }) => kind === "bad_frame");
    assert.equal(bad.length, 3);
    const many = await world.run(Array.from({ length: 101 }, () => ({ raw: "{" })));
    assert.match(failureOf(many.content), /more than 100 lines that cannot be used/);
    const long = await world.run([{ longLine: 9 * 2 ** 20 }, { hang: true }]);
    assert.match(failureOf(long.content), /a line of more than/);
    assert.deepEqual(processesOf(world.work), []);
  });

  test("a flood is read no faster than it is kept, and ends at the limit of what is kept", async (t) => {
    const world = await acpWorld(t, { runner: { limits: { records: 500, textLength: 100_000 } } });
    const flood = await world.run([{ flood: 100_000 }]);
    assert.match(failureOf(flood.content), /more than 500 messages and events/);
    const chatter = await world.run([{ chatter: 10_000 }]);
    assert.match(failureOf(chatter.content), /more than 100000 characters/);
    assert.deepEqual(processesOf(world.work), []);
  });

  test("an agent that never answers, speaks too late or dies at once is given up", async (t) => {
    const silent = await acpWorld(t, { behaviour: { silent: true }, runner: { times: { answerMs: 300 } } });
    assert.match(failureOf((await silent.run([])).content), /did not answer initialize within 300 ms/);
    const dying = await acpWorld(t, { behaviour: { dies: true } });
    assert.match(failureOf((await dying.run([])).content), /ended with exit status 7/);
  });

  test("an agent that nobody is logged in to names the command, and one that is not installed says how", async (t) => {
    const world = await acpWorld(t, { behaviour: { login: true } });
    assert.match(failureOf((await world.run([])).content), /not logged in; log in with: scripted login/);
    const missing = await acpWorld(t, { profile: { command: ["no-such-agent"], install: "npm i x" } });
    assert.match(failureOf((await missing.run([])).content), /not installed.*npm i x/);
  });

  test("a usage limit parks the task until the reset, and the session goes on where it was", async (t) => {
    const world = await acpWorld(t, { behaviour: { load: true } });
    const name = await world.start([
      { fail: { code: 1, message: "You've hit your usage limit. Try again in 1 hour." } },
    ]);
    const question = await answer(world, { kind: "question", value: "go on now" });
    assert.match(question, /reached its usage limit. The task goes on by itself at/);
    assert.equal((await world.engine.result(name)).content, "went on");
    assert.deepEqual(world.ledger("loaded"), ["s-1"]);
    assert.ok(!(await world.messages()).some((line) => line.includes("old reply")), "replayed history is no output");
  });

  test("invariant 7: at a limit the session is stopped, the person asked, and with a yes it goes on", async (t) => {
    const world = await acpWorld(t);
    const name = await world.start([{ cost: 0.5 }, { hang: true }], { budget: { money_micro_usd: 100_000 } });
    const { id } = await asked(world);
    assert.deepEqual(world.ledger("canceled"), [true]);
    await world.engine.deliver(id, { kind: "budget", go_on: true }, { kind: "person", name: "Ada" });
    assert.equal((await world.engine.result(name)).content, "went on");
    const stubborn = await acpWorld(t, { behaviour: { ignoresCancel: true, load: true } });
    const other = await stubborn.start([{ cost: 0.5 }, { hang: true }], { budget: { money_micro_usd: 100_000 } });
    await answer(stubborn, { kind: "budget", go_on: false });
    assert.match(failureOf((await stubborn.engine.result(other)).content), /budget is used up/);
  });

  test("an agent that does not report what it spends is asked about first", async (t) => {
    const world = await acpWorld(t, { profile: { metered: false } });
    const name = await world.start([{ say: "ok" }]);
    await asked(world);
    assert.deepEqual(world.ledger("started"), []);
    await answer(world, { kind: "budget", go_on: true });
    assert.equal((await world.engine.result(name)).content, "ok");
  });

  test("an agent is put back into its asking mode, and one that does not offer the mode is not started", async (t) => {
    const world = await acpWorld(t);
    await world.run([{ update: { sessionUpdate: "current_mode_update", currentModeId: "free" } }, { sleep: 100 }]);
    assert.deepEqual(world.ledger("modes"), ["asking", "asking"]);
    const other = await acpWorld(t, { profile: { mode: "strict" } });
    assert.match(failureOf((await other.run([])).content), /offers the modes free, asking, but not strict/);
  });

  test("starting an agent unconfined is an approval that says so", async (t) => {
    const world = await acpWorld(t, { runner: { approvals: [] } });
    const name = await world.start([{ say: "ok" }]);
    assert.match(await answer(world, no), /start scripted unconfined\? It can read and change every file of this user/);
    assert.match(failureOf((await world.engine.result(name)).content), /was not started/);
    assert.deepEqual(world.ledger("started"), []);
  });
});

const freeToRun = { execute: "free", network: "free", write: "refuse" } as const;
