import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parseToolCalls, type ToolCallOptions } from "../parse-tool-calls.ts";
import type { JsonObject } from "../tool-call.ts";

const schema: JsonObject = {
  properties: {
    text: { type: "string" },
    count: { type: ["integer", "null"] },
    ratio: { type: "number" },
    on: { $ref: "#/$defs/flag" },
    level: { enum: [1, 2, "high"] },
    list: { anyOf: [{ type: "array" }, { type: "string" }] },
  },
  $defs: { flag: { type: "boolean" } },
};
const options: ToolCallOptions = { tools: ["ls", "set"], schemas: new Map([["set", schema]]) };

function read(text: string, more: ToolCallOptions = options): Record<string, unknown> {
  const { calls, errors, violations, prose } = parseToolCalls(text, more);
  return {
    calls: calls.map(({ id, name, args }) => [id, name, args]),
    errors: errors.map((error) => error.code),
    violations: violations.map(({ kind, dialect }) => (dialect === undefined ? kind : `${kind} ${dialect}`)),
    prose,
  };
}

const fencedLs = '```tool\n{"name":"ls"}\n```';
const hermes = (name: string, args = "{}"): string => `<tool_call>{"name":"${name}","arguments":${args}}</tool_call>`;

describe("calls in dialects", () => {
  test("are all or none: one that is broken keeps the others from running, but not a call in a fence", () => {
    assert.deepEqual(read(`${hermes("set")}\n${fencedLs}\n${hermes("ls", "{1}")}`), {
      calls: [["tc_0", "ls", {}]],
      errors: ["broken_dialect_call"],
      violations: ["dialect_call hermes"],
      prose: "",
    });
  });

  test("of tools that are not offered do not run, and the others do", () => {
    assert.deepEqual(read(`${hermes("rm")}${hermes("ls")}`), {
      calls: [["tc_0", "ls", {}]],
      errors: [],
      violations: ["dialect_call hermes", "unregistered_call", "dialect_call hermes"],
      prose: "",
    });
  });

  test("have the types of the schema where they are written as text, and stay text where they do not fit", () => {
    const written = {
      text: "1",
      count: "null",
      ratio: "2",
      on: "True",
      level: "2",
      list: '["a"]',
      other: "3",
    };
    const tags = Object.entries(written).map(
      ([key, value]) => `<arg_key>${key}</arg_key><arg_value>${value}</arg_value>`,
    );
    const typed = { text: "1", count: null, ratio: 2, on: true, level: 2, list: ["a"], other: "3" };
    assert.deepEqual(read(`<tool_call>set${tags.join("")}</tool_call>`)["calls"], [["tc_0", "set", typed]]);
    assert.deepEqual(read("<tool_call>set<arg_key>count</arg_key><arg_value>many</arg_value></tool_call>")["calls"], [
      ["tc_0", "set", { count: "many" }],
    ]);
  });

  test("that hold an integer no double can hold do not run", () => {
    for (const text of [hermes("set", '{"count":9007199254740993}'), "[set(count=9007199254740993)]"]) {
      assert.deepEqual([read(text)["calls"], read(text)["errors"]], [[], ["broken_dialect_call"]], text);
    }
  });

  test("as in Python count only where the tools are known, and only at the end of the reply", () => {
    assert.deepEqual(read('Now:\n[ls(), set(text="a")]')["calls"], [
      ["tc_0", "ls", {}],
      ["tc_1", "set", { text: "a" }],
    ]);
    for (const [text, more] of [
      ["[ls()]", {}],
      ["Now:\n[ls()]\nThat was it.", options],
      ["[ls](there) and [ls()](here)", options],
    ] as const) {
      assert.deepEqual(read(text, more), { calls: [], errors: [], violations: [], prose: text }, text);
    }
    for (const text of ["[ls()]\n\nThat was it.", "[ls(), rm()]", '[set(text="a" "b")]']) {
      assert.deepEqual([read(text)["calls"], read(text)["errors"]], [[], ["broken_dialect_call"]], text);
    }
  });

  test("do not end in the middle of an argument, and what a broken one holds is not read", () => {
    const args = '{"text":"</tool_call> ```tool"}';
    assert.deepEqual(read(hermes("set", args))["calls"], [["tc_0", "set", { text: "</tool_call> ```tool" }]]);
    const raw = `<tool_call>{"name":"set","arguments":{"text":"raw\n${fencedLs}\n"}}</tool_call>`;
    assert.deepEqual([read(raw)["calls"], read(raw)["errors"]], [[], ["broken_dialect_call"]]);
  });
});
