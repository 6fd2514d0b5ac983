import assert from "node:assert/strict";
import { describe, test } from "node:test";

import fc from "../../../test/support/properties.ts";
import { parseAction } from "./parse-action.ts";

const verb = (name: string, args: Record<string, unknown> = {}) => ({ action: "verb", verb: name, args });
const final = (message: string) => ({ action: "final", message });

describe("an action is read", () => {
  for (const [what, reply, expected] of [
    ["a verb with arguments", '{"action":"tasks.get","args":{"task":"tsk_1"}}', verb("tasks.get", { task: "tsk_1" })],
    ["a verb without arguments", '{"action":"goals.list"}', verb("goals.list")],
    ["a final answer", '{"action":"final","message":"two tasks run"}', final("two tasks run")],
    ["prose, which is final", "Nothing runs {yet}.", final("Nothing runs {yet}.")],
    ["a verb in a fence", 'Looking.\n```json\n{"action":"goals.list","args":{}}\n```\nok', verb("goals.list")],
    ["a wrapped verb", '{"decision":{"action":"goals.list","args":{}}}', verb("goals.list")],
    ["a verb after braces of prose", '{see notes} then {"action":"goals.list"}', verb("goals.list")],
    ["a verb after a brace that is never closed", 'about {docs, so {"action":"goals.list"}', verb("goals.list")],
    ["a verb before a stray closing brace", '{"action":"goals.list"} }', verb("goals.list")],
    ["a stray closing brace alone, which is final", "}", final("}")],
    ["a blank action, which is final", '{"action":" ","message":"hello"}', final("hello")],
    [
      "braces inside a string",
      '{"action":"tasks.send","args":{"text":"use {x} and \\"}\\""}}',
      verb("tasks.send", { text: 'use {x} and "}"' }),
    ],
  ] as const) {
    test(what, () => {
      assert.deepEqual(parseAction(reply), { action: expected, dropped: [] });
    });
  }
});

describe("what cannot be read is not carried out and not dropped silently (invariant 10)", () => {
  for (const [what, reply] of [
    ["an action that is cut short", '{"action":"tasks.kill","args":{"task":"tsk_1"'],
    ["a key that is named twice", '{"action":"tasks.kill","action":"tasks.get","args":{}}'],
    ["arguments that are no object", '{"action":"tasks.kill","args":["tsk_1"]}'],
    ["a final answer without words", '{"action":"final"}'],
    ["a complete action inside one that is cut short", '{"action":"final","message":{"x": {"action":"tasks.kill"}'],
  ] as const) {
    test(what, () => {
      const { action, dropped } = parseAction(reply);
      assert.equal(action, undefined);
      assert.ok(dropped.length > 0);
    });
  }

  test("of several actions the first is taken and the others are named; a copy is none", () => {
    const list = '{"action":"goals.list","args":{}}';
    const { action, dropped } = parseAction(`${list} ${list} {"action":"final","message":"done"}`);
    assert.deepEqual(action, verb("goals.list"));
    assert.deepEqual(dropped, [
      { what: "action final at character 68", reason: "a reply carries one action, and another was taken" },
    ]);
  });

  test("several actions behind an unclosed brace are all left alone", () => {
    assert.equal(parseAction('{ {"action":"tasks.kill"} or {"action":"tasks.stop"}').action, undefined);
  });

  test("a field that is not known is named", () => {
    assert.deepEqual(parseAction('{"action":"goals.list","why":"to see"}').dropped, [
      { what: "`why`", reason: "is not a known field and was ignored" },
    ]);
  });
});

const soup = fc
  .array(
    fc.constantFrom(
      ...'{}[]":,\\`\n '.split(""),
      '"action"',
      '"final"',
      '"tasks.kill"',
      '"message":"m"',
      '"args":{',
      "```json\n",
      "```",
      '{"a":',
      '{"action":"goals.list","args":{}}',
      '{"action":"tasks.kill"',
      "x",
    ),
    { maxLength: 100 },
  )
  .map((parts) => parts.join(""));

describe("for any reply", () => {
  test("soup of braces, quotes and actions never throws, and prose keeps its words", () => {
    fc.assert(
      fc.property(soup, (reply) => {
        const { action } = parseAction(reply);
        if (action?.action === "final" && !reply.includes("final")) assert.equal(action.message, reply.trim());
      }),
    );
  });

  test("a verb is read back from what it is written as, whatever its arguments are and whatever surrounds it", () => {
    const args = fc.dictionary(fc.string({ minLength: 1 }), fc.oneof(fc.string(), fc.integer(), fc.boolean()));
    const around = fc.constantFrom("", "I will look. ", "```json\n", "{note} ");
    fc.assert(
      fc.property(args, around, (given, before) => {
        const reply = before + JSON.stringify({ action: "tasks.send", args: given });
        assert.deepEqual(parseAction(reply).action, verb("tasks.send", JSON.parse(JSON.stringify(given))));
      }),
    );
  });

  test("a hostile reply of a megabyte is read to its end", () => {
    for (const piece of ['{"a":', '{"a":"', '{"action":"x",', "{", '[{"a":1},', '"{']) {
      assert.ok(parseAction(piece.repeat(Math.floor(1_000_000 / piece.length))).dropped.length >= 0, piece);
    }
  });
});
