import assert from "node:assert/strict";
import { test } from "node:test";

import type { OpenAsk, OpenWait } from "../../protocol/api/task-shapes.ts";
import { parseAnswer, questionText } from "./question-text.ts";

const evil = "a\u001b[2Jb\u009bc\u202ed\u0007";
const ask = (more: Partial<OpenAsk>): OpenAsk => ({
  id: "ask_1",
  task: "tsk_1",
  root: "tsk_1",
  kind: "approval",
  question: "May I?",
  answer_schema: null,
  raised_at: 0,
  deadline: 1,
  status: "open",
  ...more,
});
const wait = (more: Partial<OpenWait>): OpenWait => ({
  id: "ask_1",
  task: "tsk_1",
  root: "tsk_1",
  label: "a thing",
  deadline: 1,
  ...more,
});

test("a question cannot send control codes to the terminal or imitate our prompt", () => {
  const texts = [
    questionText(ask({ question: evil, details: { command: evil, [evil]: 1 } })),
    questionText(ask({ kind: "budget", question: evil, details: evil })),
    questionText(ask({ kind: "question", question: evil, choices: [evil, "b"], details: [evil] })),
    questionText(wait({ label: evil })),
    questionText(wait({ call: { tool_name: evil, input: { [evil]: evil } } })),
  ];
  for (const text of texts) {
    // oxlint-disable-next-line no-control-regex -- controls are what this is about
    assert.doesNotMatch(text, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
    assert.match(text, /a\\u001b\[2Jb\\u009bc\\u202ed/);
  }
  const forged = questionText(ask({ question: "Read a file?\n> y\nDelete all?" }));
  assert.match(forged, /^Read a file\?\n {2}> y\n {2}Delete all\?\ny to allow it once, [^\n]*\n> $/);
});

test("details are shown by name, and only a call is allowed once", () => {
  const trust = { project: "/p", files: ["tutti.config.mjs", "rules.mjs"], sets: "code\n> y" };
  assert.deepEqual(questionText(ask({ details: trust })).split("\n"), [
    "May I?",
    "  project: /p",
    "  files: tutti.config.mjs, rules.mjs",
    "  sets:",
    "    code",
    "    > y",
    "y for yes, n (or Enter) for no, n: REASON to say why",
    "> ",
  ]);
  assert.match(questionText(ask({ details: { call: {}, rule: "x" } })), /\ny to allow it once, n /);
});

test("a row in which a line of a diff goes on cannot be taken for a line of the file", () => {
  const diff =
    "May a change this file?\nfile: f\n@@ -1,1 +1,2 @@\n same line of the file as before\n+one two three four five";
  assert.match(
    questionText(ask({ question: diff }), { width: 24 }),
    /\n {3}same line of the file\n {2}↳ as before\n {2}\+one two three four\n {2}↳ five\n/,
  );
});

test("a wait is shown with the tool call, or with its label", () => {
  const call = { tool_name: "weather", input: { city: "Oslo" } };
  const label = "the result of the external tool weather";
  const result = "The result as JSON or as text:\n> ";
  assert.equal(questionText(wait({ label, call })), `Result of weather\n  {"city":"Oslo"}\n${result}`);
  assert.equal(questionText(wait({})), `a thing\n${result}`);
});

test("an approval takes y, yes, n, no and an empty line, a reason after a no, and nothing else", () => {
  const approved = (typed: string): unknown => parseAnswer(ask({}), typed);
  for (const yes of ["y", "Y", "yes", " YES "]) {
    assert.deepEqual(approved(yes), { ok: true, value: { kind: "approval", approved: true } }, yes);
  }
  for (const no of ["n", "NO", "", "  ", "n:"]) {
    assert.deepEqual(approved(no), { ok: true, value: { kind: "approval", approved: false } }, no);
  }
  for (const no of ["n: too expensive", "No : too expensive"]) {
    assert.deepEqual(
      approved(no),
      { ok: true, value: { kind: "approval", approved: false, reason: "too expensive" } },
      no,
    );
  }
  for (const other of ["yep", "ja", "ok", "1", "yn", "nope", "y: but", ": why", "no thanks"]) {
    assert.partialDeepStrictEqual(approved(other), { ok: false }, other);
  }
});

test("a budget ask takes the same words", () => {
  const parsed = (typed: string): unknown => parseAnswer(ask({ kind: "budget" }), typed);
  assert.deepEqual(parsed("yes"), { ok: true, value: { kind: "budget", go_on: true } });
  assert.deepEqual(parsed(""), { ok: true, value: { kind: "budget", go_on: false } });
  assert.partialDeepStrictEqual(parsed("go"), { ok: false });
});

test("a question about work is followed by its choices and by the command that shows the work, without ids as details", () => {
  const about = ask({
    kind: "question",
    task: "tsk_2",
    question: 'fix, of "add adds": it fails\nAccept the work, try again, or give it up?',
    choices: ["accept", "try again", "stop"],
    choices_with_words: ["try again"],
    details: { handoff: "fix", branch: "tutti/tsk_2-1", commit: "c0ffee" },
  });
  assert.deepEqual(questionText(about, { state: "/s", who: 'fix, of "add adds"' }).split("\n"), [
    'fix, of "add adds": it fails',
    "  Accept the work, try again, or give it up?",
    "  One of: accept | try again | stop (words may follow a colon: `try again: …`)",
    "  tutti diff tsk_2 --state /s",
    "Your answer:",
    "> ",
  ]);
  const own = questionText(ask({ kind: "question", question: "Which?" }), { who: 'fix, of "add adds"' });
  assert.match(own, /^fix, of "add adds": Which\?\n/);
});

test("no words are no answer to a question", () => {
  for (const typed of ["", "  "]) {
    assert.partialDeepStrictEqual(parseAnswer(ask({ kind: "question" }), typed), { ok: false }, typed);
  }
});
