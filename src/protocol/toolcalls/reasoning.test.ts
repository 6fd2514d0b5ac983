import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parseToolCalls } from "./parse-tool-calls.ts";

const ls = '```tool\n{"name":"ls"}\n```';
const rm = '```tool\n{"name":"rm","args":{"path":"/"}}\n```';
const rmCall = { name: "rm", args: { path: "/" } };

for (const profile of ["strict", "tolerant"] as const) {
  const read = (text: string): Record<string, unknown> => {
    const { calls, errors, violations, prose, reasoning, ignored } = parseToolCalls(text, { profile });
    return {
      calls: calls.map((call) => call.name),
      errors: errors.map((error) => error.code),
      violations: violations.map((violation) => violation.kind),
      prose,
      reasoning,
      ignored,
    };
  };
  const nothing = { calls: [], errors: [], violations: [], prose: "", reasoning: "", ignored: [] };

  describe(`reasoning in the ${profile} profile`, () => {
    test("is returned apart, and calls inside it are listed as ignored and not run", () => {
      const text = `Hello.\n<think>\nplan\n${rm}\n</think>\n${ls}\nBye.`;
      const expected = { calls: ["ls"], prose: "Hello.\n\nBye.", reasoning: `plan\n${rm}`, ignored: [rmCall] };
      assert.deepEqual(read(text), { ...nothing, ...expected });
    });

    test("has three tag names, in any case, with attributes", () => {
      for (const [open, close] of [
        ["<thinking>", "</thinking>"],
        ["<REASONING>", "</Reasoning>"],
        ['<think mode="deep">', "</think >"],
      ]) {
        assert.deepEqual(read(`${open}${rm}${close}${ls}`), {
          ...nothing,
          calls: ["ls"],
          reasoning: rm,
          ignored: [rmCall],
        });
      }
      assert.equal(read("<thinker>a</thinker>")["prose"], "<thinker>a</thinker>");
    });

    test("nests, and a close ends the tag of its own name with all it holds", () => {
      assert.deepEqual(read("<think>a<think>b</think>c</think>d"), {
        ...nothing,
        prose: "d",
        reasoning: "a<think>b</think>c",
      });
      assert.deepEqual(read("<think>a<reasoning>b</think>c"), { ...nothing, prose: "c", reasoning: "a<reasoning>b" });
    });

    test("is not looked for inside a block", () => {
      const text = '```tool\n{"name":"w","args":{"t":"a <think>b</think> c </think>"}}\n```';
      assert.deepEqual(parseToolCalls(text, { profile }).calls[0]?.args, { t: "a <think>b</think> c </think>" });
    });

    test("does not end inside a string of a call it holds", () => {
      const call = '```tool\n{"name":"w","args":{"t":"</think>"}}\n```';
      const expected = { calls: ["ls"], reasoning: call, ignored: [{ name: "w", args: { t: "</think>" } }] };
      assert.deepEqual(read(`<think>\n${call}\n</think>\n${ls}`), { ...nothing, ...expected });
    });

    test("ends at its close even if a block inside it does not", () => {
      const expected = { calls: ["ls"], reasoning: '```tool\n{"name":"rm"}', ignored: [{ name: "rm", args: {} }] };
      assert.deepEqual(read(`<think>\n\`\`\`tool\n{"name":"rm"}\n</think>\n${ls}`), { ...nothing, ...expected });
      const broken = { calls: ["ls"], reasoning: '```tool\n{"name":"r' };
      assert.deepEqual(read(`<think>\n\`\`\`tool\n{"name":"r\n</think>\n${ls}`), { ...nothing, ...broken });
    });

    test("an opener glued to a close opens a block", () => {
      assert.deepEqual(read(`<think>plan</think>${ls}`), { ...nothing, calls: ["ls"], reasoning: "plan" });
    });

    test("text before an orphan close is reasoning if no complete block came before it", () => {
      const text = `maybe\n\`\`\`tool\n{"name": …\n\`\`\`\n</think>\nSo:\n${ls}`;
      const expected = { calls: ["ls"], prose: "So:", reasoning: 'maybe\n```tool\n{"name": …\n```' };
      assert.deepEqual(read(text), { ...nothing, ...expected });
      assert.deepEqual(read("a</think>b</THINK>c"), { ...nothing, prose: "c", reasoning: "a\nb" });
    });

    test("an orphan close after a complete block is text and a violation", () => {
      const expected = { calls: ["ls"], violations: ["orphan_reasoning_close"], prose: "A </think> b" };
      assert.deepEqual(read(`${ls}\nA </think> b`), { ...nothing, ...expected });
    });

    test("a tag that opens a line and never closes hides the rest, with one violation", () => {
      const expected = {
        violations: ["unclosed_reasoning"],
        prose: "Start.",
        reasoning: `run\n${rm}\n<think>more`,
        ignored: [rmCall],
      };
      assert.deepEqual(read(`Start.\n  <think>run\n${rm}\n<think>more`), { ...nothing, ...expected });
    });

    test("an unclosed tag in mid-line is text, and what follows it is read", () => {
      const text = `The <think> tag.\n${ls}\nA <think>b</think> c`;
      assert.deepEqual(read(text), { ...nothing, calls: ["ls"], prose: "The <think> tag.\nA  c", reasoning: "b" });
    });

    test("calls inside a pair found behind an unclosed tag are listed once", () => {
      const text = `The <think> tag.\n<think>\n${rm}\n</think>\nEnd.`;
      const expected = { prose: "The <think> tag.\n\nEnd.", reasoning: rm, ignored: [rmCall] };
      assert.deepEqual(read(text), { ...nothing, ...expected });
    });
  });
}

test("an orphan close forgets the fences and quotations before it", () => {
  const reply = parseToolCalls(`Let me see\n\`\`\`md\n${rm}\nhm\n</think>\n${ls}`);
  assert.deepEqual([reply.calls.map((call) => call.name), reply.errors, reply.ignored], [["ls"], [], [rmCall]]);
});
