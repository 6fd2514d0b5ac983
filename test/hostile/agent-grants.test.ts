// What a coding agent makes of a person's yes: each frees exactly what was shown, once, and as long as the prompt is open.

import assert from "node:assert/strict";
import { existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test, type TestContext } from "node:test";

import type { ApprovalRules } from "../../src/protocol/invocation/approval-policy.ts";
import { userMessage } from "../../src/protocol/task/message.ts";
import { acpWorld, type AcpWorld } from "../support/acp-kit.ts";
import { until } from "../support/wait-until.ts";

interface Asked {
  readonly question: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/** The function can do something before the answer is given. */
type Say = boolean | ((world: AcpWorld, task: string) => Promise<boolean> | boolean);

interface Told {
  readonly world: AcpWorld;
  readonly asked: readonly Asked[];
  readonly questions: readonly string[];
  /** What Tutti answered the agent's own requests with: the error, or undefined. */
  readonly errors: readonly (string | undefined)[];
  readonly chosen: readonly unknown[];
  readonly text: (name: string) => string | undefined;
}

type Build = (world: AcpWorld) => readonly unknown[];

/** Runs the agent; the answers are given in turn, and whatever is asked beyond them is denied. */
async function told(
  t: TestContext,
  build: Build,
  { says = [], rules }: { says?: readonly Say[]; rules?: ApprovalRules } = {},
): Promise<Told> {
  const approvals = [{ from: "user", rules: rules ?? { execute: "free", network: "free", write: "ask" } }] as const;
  const world = await acpWorld(t, { runner: { approvals } });
  const task = await world.start(build(world));
  const seen = new Map<string, Asked>();
  let isOver = false;
  const result = world.engine.result(task).finally(() => (isOver = true));
  for (let turn = 0; turn < 20 && !isOver; turn += 1) {
    const open = await until(async () => {
      if (isOver) return "over" as const;
      const events = await world.events();
      const closed = events.flatMap((each) =>
        each.type === "ask.answered" || each.type === "ask.withdrawn" ? [each.data.ask] : [],
      );
      return events
        .flatMap((each) => (each.type === "ask.raised" ? [each.data.ask] : []))
        .find(({ id }) => !closed.includes(id) && !seen.has(id));
    });
    if (open === "over") break;
    const asked = { question: open.question, details: Object(open.details) };
    const say = says[seen.size] ?? false;
    seen.set(open.id, asked);
    const approved = typeof say === "boolean" ? say : await say(world, task);
    await world.engine.deliver(open.id, { kind: "approval", approved }, { kind: "person", name: "Ada" });
  }
  await result;
  const answers = world.ledger("answers").map((each) => Object(each));
  return {
    world,
    asked: [...seen.values()],
    questions: [...seen.values()].map(({ question }) => question),
    errors: answers.map(({ error }) => error?.message),
    chosen: world.ledger("permissions").map((each) => Object(each).outcome?.optionId ?? Object(each).outcome),
    text: (name) => (existsSync(join(world.work, name)) ? readFileSync(join(world.work, name), "utf8") : undefined),
  };
}

const diff = (path: string, newText: string, oldText: string | null = null): object => ({
  type: "diff",
  path,
  oldText,
  newText,
});
const edit = (...content: object[]): object => ({ toolCallId: "c1", title: "Edit", kind: "edit", content });
const write = (path: string, content: string): object => ({
  rpc: "fs/write_text_file",
  params: { sessionId: "s-1", path, content },
});
const read = (path: string): object => ({ rpc: "fs/read_text_file", params: { sessionId: "s-1", path } });

describe("a yes to a coding agent", { concurrency: 2 }, () => {
  test("to reading a file frees no write to it", async (t) => {
    const { questions, errors, text } = await told(
      t,
      ({ work }) => {
        const path = join(work, "a.txt");
        writeFileSync(path, "old\n");
        const call = { toolCallId: "c1", kind: "read", title: "Read", locations: [{ path }] };
        return [{ permit: call, then: [read(path), write(path, "evil\n"), read(join(work, "permissions"))] }];
      },
      { says: [true], rules: { read: "ask", write: "ask", execute: "free", network: "free" } },
    );
    assert.equal(questions.length, 3, "the request, the write and the other file are asked about");
    assert.match(
      questions.join("\n"),
      /May the session change this file\?\nfile: .*a\.txt \(exists, 4 bytes\)\n@@.*\n-old\n\+evil/,
    );
    assert.match(questions.at(-1) ?? "", /^May the session read .*permissions\?$/);
    assert.equal(errors.filter((each) => each === undefined).length, 1);
    assert.equal(text("a.txt"), "old\n");
  });

  test("to one change frees that content once, and neither other content nor the same again", async (t) => {
    const { questions, errors, text } = await told(
      t,
      ({ work }) => {
        const path = join(work, "a.txt");
        writeFileSync(path, "old\n");
        const then = [
          write(path, "evil\n"),
          write(path, "new\n"),
          { write: path, text: "old\n" },
          write(path, "new\n"),
        ];
        return [{ permit: edit(diff(path, "new\n", "old\n")), then }];
      },
      { says: [true, false, false] },
    );
    assert.equal(questions.length, 3);
    assert.match(questions[1] ?? "", /-old\n\+evil/);
    assert.match(questions[2] ?? "", /-old\n\+new/);
    assert.deepEqual(
      errors.map((each) => each === undefined),
      [false, true, false],
    );
    assert.equal(text("a.txt"), "old\n");
  });

  test("does not hold for a file that was changed, made or exchanged for a link since it was shown", async (t) => {
    const { questions, errors, text } = await told(
      t,
      ({ work }) => {
        const [changed, made, linked] = ["changed", "made", "linked"].map((name) => join(work, name));
        assert.ok(changed !== undefined && made !== undefined && linked !== undefined);
        for (const path of [changed, linked, join(work, "other")]) writeFileSync(path, "old\n");
        return [
          {
            permit: edit(diff(changed, "new\n", "old\n"), diff(made, "new\n"), diff(linked, "new\n", "old\n")),
            then: [
              { write: changed, text: "theirs\n" },
              { write: made, text: "theirs\n" },
              { shell: `ln -sfn other ${linked}` },
              ...[changed, made, linked].map((path) => write(path, "new\n")),
            ],
          },
        ];
      },
      { says: [true] },
    );
    assert.equal(questions.length, 4);
    assert.ok(questions.slice(1, 3).every((each) => each.includes("-theirs\n+new")));
    assert.match(questions[3] ?? "", /file: .*\/other \(exists/);
    assert.equal(errors.filter((each) => each === undefined).length, 0);
    assert.deepEqual(["changed", "made", "other"].map(text), ["theirs\n", "theirs\n", "old\n"]);
  });

  test("to the question about a write itself is bound to what it showed, too", async (t) => {
    const { errors, text } = await told(
      t,
      ({ work }) => {
        writeFileSync(join(work, "other"), "other\n");
        return [write(join(work, "a.txt"), "mine\n"), write(join(work, "b.txt"), "mine\n")];
      },
      {
        says: [
          ({ work }) => (writeFileSync(join(work, "a.txt"), "theirs\n"), true),
          ({ work }) => (symlinkSync("other", join(work, "b.txt")), true),
        ],
      },
    );
    for (const error of errors) assert.match(error ?? "", /not what the person saw/);
    assert.deepEqual(["a.txt", "other"].map(text), ["theirs\n", "other\n"]);
  });

  test("to several changes frees each of them, also where an agent shows only the piece that it replaces", async (t) => {
    const { questions, errors, text } = await told(
      t,
      ({ work }) => {
        const [a, b] = [join(work, "a.txt"), join(work, "b.txt")];
        writeFileSync(a, "one\r\ntwo\r\nthree");
        const request = edit(diff(a, "2", "two"), diff(b, "made\n"));
        return [{ permit: request, then: [write(a, "one\r\n2\r\nthree"), write(b, "made\n")] }];
      },
      { says: [true] },
    );
    assert.equal(questions.length, 1);
    assert.match(
      questions[0] ?? "",
      /\n one\\u\{d\}\n-two\\u\{d\}\n\+2\\u\{d\}\n three\n\\ No newline at end of file\n/,
    );
    assert.deepEqual(errors, [undefined, undefined]);
    assert.deepEqual(["a.txt", "b.txt"].map(text), ["one\r\n2\r\nthree", "made\n"]);
  });

  test("frees nothing that was hidden in the middle, and nothing that the file on the disk contradicts", async (t) => {
    const many = Array.from({ length: 400 }, (_, line) => `line ${line}\n`).join("");
    const long = `${"x".repeat(5_000)}\n`;
    const { questions, asked, errors } = await told(
      t,
      ({ work }) => {
        const [a, b, c] = [join(work, "a.txt"), join(work, "b.txt"), join(work, "c.txt")];
        writeFileSync(c, "something else\n");
        const request = edit(diff(a, many), diff(b, long), diff(c, "new\n", "old\n"));
        return [{ permit: request, then: [write(a, many), write(b, long), write(c, "new\n")] }];
      },
      { says: [true] },
    );
    assert.equal(questions.length, 4, "the request, and each of the writes");
    assert.match(questions[0] ?? "", /181 lines are hidden here/);
    assert.match(questions[0] ?? "", /3001 characters are hidden here/);
    assert.match(questions[0] ?? "", /c\.txt, as the session tells it; the file here cannot be compared/);
    assert.match(questions[3] ?? "", /-something else\n\+new/);
    assert.equal(Object(asked[1]?.details["call"]).content, many, "the details have all that the question hides");
    assert.equal(errors.filter((each) => each === undefined).length, 0);
  });

  test("ends with the prompt; what is still asked then is withdrawn, and outside of a prompt nothing is asked or changed", async (t) => {
    const { world, questions, errors, text } = await told(
      t,
      ({ work }) => {
        const path = join(work, "a.txt");
        writeFileSync(path, "old\n");
        const toolCall = { ...Object(edit(diff(path, "other\n", "old\n"))), toolCallId: "c2" };
        const options = [{ optionId: "y", kind: "allow_once" }];
        const frames = [
          { id: 78, method: "session/request_permission", params: { sessionId: "s-1", toolCall, options } },
          // The answer to the prompt, and a write right behind it.
          { id: 4, result: { stopReason: "end_turn" } },
          { id: 77, method: "fs/write_text_file", params: { sessionId: "s-1", path, content: "new\n" } },
        ];
        return [
          { permit: edit(diff(path, "new\n", "old\n")) },
          { raw: frames.map((frame) => JSON.stringify(frame)).join("\n") },
        ];
      },
      {
        says: [
          async ({ engine, work }, task) => {
            await engine.message(task, userMessage(JSON.stringify([write(join(work, "a.txt"), "new\n")])));
            return true;
          },
        ],
      },
    );
    assert.equal(text("a.txt"), "old\n");
    assert.equal(errors.length, 1, "the write of the second prompt");
    assert.match(questions.at(-1) ?? "", /May the session change this file/);
    const events = await world.events();
    const second = events.findLastIndex(({ type }) => type === "session.prompted");
    const raised = events.flatMap((each, at) => (each.type === "ask.raised" && at < second ? [each.data.ask.id] : []));
    const closed = events
      .slice(0, second)
      .flatMap((each) => (each.type === "ask.answered" || each.type === "ask.withdrawn" ? [each.data.ask] : []));
    assert.deepEqual(closed, raised);
  });

  test("is never given by a request whose kind takes the rule of another tool", async (t) => {
    const { chosen, questions } = await told(
      t,
      ({ work }) => [
        { permit: { toolCallId: "c1", kind: "write", title: "x", rawInput: {} } },
        { permit: { toolCallId: "c2", kind: "read", rawInput: { command: "rm -rf ~" } } },
        { permit: { toolCallId: "c3", kind: "read", rawInput: { tool: { input: { argv: ["rm"] } } } } },
        { permit: { toolCallId: "c4", kind: "read", content: [diff(join(work, "a"), "x")] } },
        { permit: { toolCallId: "c5", kind: "switch_mode", rawInput: { plan: "all of it" } } },
        { permit: { toolCallId: "c6", kind: "read", rawInput: { path: "a" } } },
      ],
      {
        rules: {
          execute: "ask",
          network: "ask",
          tools: { "acp.write": "free", "acp.read": "free", "acp:scripted": "free" },
        },
      },
    );
    assert.deepEqual(chosen, ["no", "no", "no", "no", "no", "yes"]);
    assert.equal(questions.length, 5);
  });

  test("is only given where the session's option can mean nothing else, and the option is named", async (t) => {
    const call = (toolCallId: string): object => ({ toolCallId, kind: "edit", title: "Edit" });
    const { chosen, questions } = await told(
      t,
      () => [
        {
          permit: call("c1"),
          options: [
            { optionId: "x", name: "Once", kind: "allow_once" },
            { optionId: "x", name: "Always", kind: "allow_always" },
            { optionId: "n", name: "No", kind: "reject_once" },
          ],
        },
        { permit: call("c2"), options: [{ optionId: "y", name: "Reject\nand stop", kind: "allow_once" }] },
      ],
      { says: [true, true] },
    );
    assert.deepEqual(chosen, ["n", "y"]);
    assert.match(questions[0] ?? "", /a yes cannot be given/);
    assert.match(questions[1] ?? "", /a yes is answered with the session's option: Reject\\nand stop$/);
  });

  test("stands below everything that the request says: what changes how a program runs first, and nothing is left out", async (t) => {
    const padding = Array.from({ length: 300 }, (_, line) => `echo ${line}`).join("\n");
    const { questions, chosen } = await told(
      t,
      () => [
        {
          update: {
            sessionUpdate: "tool_call",
            toolCallId: "c1",
            title: "Harmless",
            kind: "execute",
            rawInput: { command: "ls" },
          },
        },
        {
          permit: {
            toolCallId: "c1",
            title: "List\ncommand:\n  | ls",
            kind: "read",
            rawInput: {
              command: "npm test",
              description: "d\u202Ee",
              args: ["--eval", "evil()"],
              cwd: "/tmp",
              env: { LD_PRELOAD: "/tmp/evil.so" },
              dangerouslyDisableSandbox: true,
              options: { deep: { sandbox_permissions: "none" } },
              notes: `${padding}\nhidden in the middle\n${padding}`,
            },
            locations: [{ path: "a\nfile: b", line: 7 }],
            content: [
              { type: "content", content: { type: "text", text: "shown text" } },
              { type: "terminal", terminalId: "terminal-9" },
            ],
            _meta: { tool: { name: "Bash" } },
          },
        },
      ],
      { rules: { execute: "ask", network: "ask", tools: { "acp:scripted": "free" } } },
    );
    const [question = ""] = questions;
    assert.deepEqual(chosen, ["no"]);
    const order = [
      "the session says:\n  | List\n  | command:\n  |   | ls\n",
      "arguments that change how it runs:",
      '"args": [\n  |     "--eval",\n  |     "evil()"',
      '"cwd": "/tmp"',
      '"LD_PRELOAD": "/tmp/evil.so"',
      '"dangerouslyDisableSandbox": true',
      '"sandbox_permissions": "none"',
      "command:\n  | npm test\n",
      "other arguments:",
      '"description": "d\\u{202e}e"',
      "hidden in the middle",
      "file: a\\nfile: b, line 7\n",
      "the session shows:\n  | shown text\n",
      '"terminalId": "terminal-9"',
      "the request also has:",
      '"name": "Bash"',
    ];
    let at = -1;
    for (const piece of order) {
      const next = question.indexOf(piece, at + 1);
      assert.ok(next > at, `${piece}\n\nis missing or too early in\n\n${question.replaceAll(padding, "…")}`);
      at = next;
    }
    assert.doesNotMatch(question, /hidden here/);
  });

  test("a change of very many lines is asked about like any other", async (t) => {
    const { questions, errors } = await told(t, ({ work }) => [write(join(work, "a.txt"), "x\n".repeat(200_000))]);
    assert.match(questions[0] ?? "", /199781 lines are hidden here/);
    assert.equal(errors.length, 1);
    assert.match(errors[0] ?? "", /denied/);
  });
});
