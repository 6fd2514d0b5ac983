import assert from "node:assert/strict";
import { test } from "node:test";
import { Ask, AskKind, choiceIn, expiryMeaning, readAnswer } from "./ask.ts";

const open = {
  id: "ask_1",
  task: "tsk_1",
  root: "tsk_1",
  kind: "approval",
  question: "May I push?",
  answer_schema: null,
  raised_at: 1,
  deadline: 2,
  status: "open",
} as const;
const refusal = (ask: Parameters<typeof readAnswer>[0], value: unknown): string[] => {
  const reading = readAnswer(ask, value);
  return reading.ok ? [] : reading.issues.map(({ path }) => path);
};

test("an open ask and a settled one keep their form, and only a settled one says when", () => {
  const answered = {
    ...open,
    status: "answered",
    answer: { kind: "approval", approved: true },
    by: { kind: "person", name: "ada" },
    settled_at: 3,
  };
  for (const ask of [open, answered, { ...open, status: "expired", settled_at: 3 }])
    assert.deepEqual(Ask.parse(ask), ask);
  assert.equal(Ask.safeParse({ ...open, settled_at: 3 }).success, false);
  assert.equal(Ask.safeParse({ ...open, status: "answered", settled_at: 3 }).success, false);
});

test("silence denies an approval, leaves a question unanswered and stops at a budget (invariant 8)", () => {
  assert.deepEqual(
    AskKind.options.map((kind) => [kind, expiryMeaning[kind]]),
    [
      ["question", "no_answer"],
      ["approval", "denied"],
      ["budget", "stop"],
    ],
  );
});

test("an answer must be of the ask's kind", () => {
  assert.deepEqual(refusal(open, { kind: "approval", approved: false, reason: "not yet" }), []);
  assert.deepEqual(refusal(open, { kind: "question", value: "yes" }), ["kind"]);
  assert.deepEqual(refusal(open, { kind: "approval", approved: "yes" }), ["approved"]);
  assert.deepEqual(refusal({ ...open, kind: "budget" }, { kind: "budget", go_on: true, limits: { tasks: 200 } }), []);
});

test("a question with choices takes one of them, one without a schema takes text", () => {
  const question = { kind: "question", answer_schema: null } as const;
  assert.deepEqual(refusal({ ...question, choices: ["a", "b"] }, { kind: "question", value: "c" }), ["value"]);
  assert.deepEqual(refusal({ ...question, choices: ["a", "b"] }, { kind: "question", value: "b" }), []);
  assert.deepEqual(refusal(question, { kind: "question", value: 3 }), ["value"]);
  assert.deepEqual(refusal({ ...question, answer_schema: { type: "number" } }, { kind: "question", value: 3 }), []);
});

test("an answer without words is none, whoever sends it, also where any text is an answer", () => {
  const question = { kind: "question", answer_schema: null } as const;
  for (const value of ["", "  ", "\n"]) {
    assert.deepEqual(refusal(question, { kind: "question", value }), ["value"]);
    assert.deepEqual(refusal({ ...question, choices: ["go on"] }, { kind: "question", value }), ["value"]);
    assert.deepEqual(refusal({ ...question, answer_schema: {} }, { kind: "question", value }), ["value"]);
  }
});

test("a choice is read in any letter case, and its words only where the ask takes them, after a colon", () => {
  const asked = {
    kind: "question",
    answer_schema: null,
    choices: ["accept", "try again", "stop"],
    choices_with_words: ["try again"],
  } as const;
  const read = (value: string): unknown => {
    const reading = readAnswer(
      { ...asked, choices: [...asked.choices], choices_with_words: ["try again"] },
      { kind: "question", value },
    );
    return reading.ok ? Object(reading.answer).value : undefined;
  };
  assert.equal(read(" Stop "), "stop");
  assert.equal(read("TRY AGAIN:use tabs: everywhere"), "try again: use tabs: everywhere");
  assert.equal(read("try again:"), "try again");
  for (const other of ["stop: now", "try again use tabs", "accept it", "retry", "fix it", "acceptance", ":stop"]) {
    assert.equal(read(other), undefined, other);
  }
  assert.deepEqual(choiceIn(asked, "try again: use tabs"), { choice: "try again", words: "use tabs" });
});

test("choices that differ in letter case alone must be written as they are", () => {
  const asked = { kind: "question", answer_schema: null, choices: ["a", "A"] } as const;
  assert.deepEqual(choiceIn(asked, "A"), { choice: "A", words: "" });
  assert.equal(choiceIn({ choices: ["ab", "AB"] }, "Ab"), undefined);
});
