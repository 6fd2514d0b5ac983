import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parseToolCalls } from "./parse-tool-calls.ts";
import type { ToolCallReply } from "./tool-call.ts";

const fence = (body: string, info = "tool"): string => `\`\`\`${info}\n${body}\n\`\`\``;
const strict = (text: string): ToolCallReply => parseToolCalls(text, { profile: "strict" });
const tolerant = (text: string, tools?: readonly string[]): ToolCallReply =>
  parseToolCalls(text, tools ? { tools } : {});
const calls = (reply: ToolCallReply): unknown => reply.calls.map(({ name, args }) => [name, args]);
const codes = (reply: ToolCallReply): string[] => reply.errors.map((error) => error.code);
const kinds = (reply: ToolCallReply): string[] => reply.violations.map((violation) => violation.kind);
const write = (content: string): string => fence(JSON.stringify({ name: "write", args: { content } }));

for (const profile of ["strict", "tolerant"] as const) {
  const parse = (text: string): ToolCallReply => parseToolCalls(text, { profile });

  describe(`the format in the ${profile} profile`, () => {
    test("a clean call parses", () => {
      const reply = parse(fence('{"name": "read_file", "args": {"path": "a.rs"}}'));
      const expected = { id: "tc_0", name: "read_file", args: { path: "a.rs" } };
      const rest = { errors: [], violations: [], prose: "", reasoning: "", ignored: [] };
      assert.deepEqual(reply, { calls: [expected], ...rest });
    });

    test("content full of delimiters survives byte for byte", () => {
      const content = "```\nx := `raw`\n<<EOF\n}\n</tool>\n```";
      assert.deepEqual(calls(parse(write(content))), [["write", { content }]]);
    });

    test("as many blocks as calls, the prose between them kept", () => {
      const reply = parse(`${fence('{"name":"a","args":{}}')}\nsome prose\n${fence('{"name":"b","args":{"k":1}}')}`);
      assert.deepEqual(
        reply.calls.map((call) => call.id),
        ["tc_0", "tc_1"],
      );
      assert.equal(reply.prose, "some prose");
    });

    test("content that begins like a heredoc is just a string", () => {
      const content = "<<EOF\npackage main\n";
      assert.deepEqual(calls(parse(write(content))), [["write", { content }]]);
    });

    test("an array is refused", () => {
      const reply = parse(fence('[{"name":"a","args":{}}]'));
      assert.deepEqual(codes(reply), ["expected_single_object"]);
      assert.match(reply.errors[0]?.message ?? "", /exactly one JSON object/);
    });

    test("a call without a name is refused", () => {
      const reply = parse(fence('{"args":{"path":"a"}}'));
      assert.deepEqual([calls(reply), codes(reply)], [[], ["missing_name"]]);
      assert.match(reply.errors[0]?.message ?? "", /missing a non-empty string `name`/);
    });

    test("a call with a blank name is refused", () => {
      assert.deepEqual(codes(parse(fence('{"name":"  ","args":{}}'))), ["missing_name"]);
    });

    test("arguments that are a string are refused", () => {
      const reply = parse(fence('{"name":"a","args":"oops"}'));
      assert.deepEqual([calls(reply), codes(reply)], [[], ["args_not_object"]]);
      assert.match(reply.errors[0]?.message ?? "", /must be a JSON object/);
    });

    test("absent and null arguments are an empty object", () => {
      assert.deepEqual(calls(parse(fence('{"name":"a"}'))), [["a", {}]]);
      assert.deepEqual(calls(parse(fence('{"name":"a","args":null}'))), [["a", {}]]);
    });

    test("a call cut inside a string is unterminated and never half-applied", () => {
      const reply = parse('```tool\n{"name":"write","args":{"content":"half a str');
      assert.deepEqual([calls(reply), codes(reply)], [[], ["unterminated"]]);
      assert.match(reply.errors[0]?.message ?? "", /Unterminated.*line 1/);
    });

    test("a complete object closes with the end of the reply", () => {
      assert.deepEqual(calls(parse('```tool\n{"name":"a","args":{"k":1}}')), [["a", { k: 1 }]]);
    });

    test("a call in a json fence runs, with a violation", () => {
      const reply = parse(fence('{"name":"a","args":{}}', "json"));
      assert.deepEqual([calls(reply), kinds(reply)], [[["a", {}]], ["json_fence"]]);
    });

    test("a fence of another language stays in the prose", () => {
      const reply = parse("```python\nprint('hi')\n```");
      assert.deepEqual([calls(reply), codes(reply), kinds(reply)], [[], [], []]);
      assert.equal(reply.prose, "```python\nprint('hi')\n```");
    });

    test("a fence line inside a string does not close the block", () => {
      const content = "before\n```\nafter";
      assert.deepEqual(calls(parse(write(content))), [["write", { content }]]);
    });

    test("a closing tool tag in content survives", () => {
      assert.deepEqual(calls(parse(write("x </tool> y"))), [["write", { content: "x </tool> y" }]]);
    });

    test("a broken block does not stop the good ones, and ids stay dense", () => {
      const reply = parse([fence('{"name":"a"}'), fence("{nope"), fence('{"name":"b"}')].join("\n"));
      assert.deepEqual(
        reply.calls.map(({ id, name }) => [id, name]),
        [
          ["tc_0", "a"],
          ["tc_1", "b"],
        ],
      );
      assert.deepEqual(codes(reply), ["invalid_json"]);
    });

    test("an integer that cannot be held exactly is an error, one that can is not", () => {
      const reply = parse(fence('{"name":"a","args":{"n":[1,-9007199254740993]}}'));
      assert.deepEqual([calls(reply), codes(reply)], [[], ["inexact_integer"]]);
      assert.match(reply.errors[0]?.message ?? "", /-9007199254740993/);
      assert.deepEqual(calls(parse(fence('{"name":"a","args":{"n":9007199254740992}}'))), [["a", { n: 2 ** 53 }]]);
      assert.deepEqual(calls(parse(fence('{"name":"a","args":{"n":1e300}}'))), [["a", { n: 1e300 }]]);
    });

    test("nesting is allowed to 127 levels", () => {
      const nested = (levels: number): string =>
        fence(`{"name":"a","args":{"x":${"[".repeat(levels - 2)}${"]".repeat(levels - 2)}}}`);
      assert.equal(parse(nested(127)).calls.length, 1);
      assert.deepEqual(codes(parse(nested(128))), ["invalid_json"]);
    });

    test("a lone surrogate is refused, written out or escaped, in a key or a value", () => {
      for (const text of ['{"p":"\\ud83d x"}', '{"p":"\ud83d"}', '{"\\ude00":1}', '{"p":["\\ud83d\\u0041"]}']) {
        assert.deepEqual(codes(parse(fence(`{"name":"a","args":${text}}`))), ["invalid_json"], text);
      }
      assert.deepEqual(calls(parse(fence('{"name":"a","args":{"p":"\\ud83d\\ude00"}}'))), [["a", { p: "😀" }]]);
    });

    test("what is no valid value is refused, also under a key that is named again", () => {
      const deep = "[".repeat(127) + "]".repeat(127);
      for (const first of [String.raw`"\ud800"`, "1e999", `"a\ud800"`, deep]) {
        for (const text of [`{"b":${first},"b":1}`, `{ "b" : ${first} , "b" : [ 1, {"c": "x\\""} ] }`]) {
          const reply = parse(fence(`{"name":"w","args":${text}}`));
          assert.deepEqual([calls(reply), codes(reply)], [[], ["invalid_json"]], text);
        }
      }
      for (const text of [
        String.raw`{"b":"\ud83d\ude00","b":1}`,
        String.raw`{"b":"x\"","\u0062":1}`,
        '{"b":"\\\\","b":1}',
      ]) {
        assert.deepEqual(calls(parse(fence(`{"name":"w","args":${text}}`))), [["w", { b: 1 }]], text);
      }
      const again = parse(fence(String.raw`{"name":"\ud800","name":"w"}`));
      assert.deepEqual([calls(again), codes(again)], [[], ["invalid_json"]]);
    });

    test("`__proto__` stays an own property and changes no prototype", () => {
      const [call] = parse(fence('{"name":"a","args":{"__proto__":{"admin":true}}}')).calls;
      assert.ok(call !== undefined && Object.hasOwn(call.args, "__proto__"));
      assert.equal(Object.getPrototypeOf(call.args), Object.prototype);
    });

    test("a block that ends with a reply that was cut is not run; one that is closed is", () => {
      const open = 'x\n```tool\n{"name":"a"}';
      const cut = parseToolCalls(open, { profile, cut: true });
      assert.deepEqual([calls(cut), codes(cut), cut.errors[0]?.line], [[], ["cut_call"], 2]);
      assert.equal(parseToolCalls(`${open}\n\`\`\``, { profile, cut: true }).calls.length, 1);
      const broken = parseToolCalls('```tool\n{"name":"a', { profile, cut: true });
      assert.deepEqual(codes(broken), ["unterminated"]);
    });

    test("an error carries the line of the original text and the text at the fault", () => {
      const reply = parse(`<think>\na\nb\n</think>\nprose\n${fence('{"name":"w",\n"args":{"p":"C:\\qux"}}')}`);
      const [error] = reply.errors;
      assert.equal(error?.code, "invalid_json");
      assert.equal(error?.line, 8);
      assert.ok(error?.excerpt.includes("C:\\qux"));
      assert.match(error?.message ?? "", /`\\q` is not an escape of JSON \(line 8, column 16\)/);
    });

    test("the excerpt is the fault, not the head of the body", () => {
      const reply = parse(fence(`{"name":"w","args":{"a":"${"x".repeat(500)}","b":tru}}`));
      assert.ok(reply.errors[0]?.excerpt.includes('"b":tru}'));
      assert.ok(!reply.errors[0]?.excerpt.includes('"name"'));
    });

    test("windows line ends are read like others", () => {
      const reply = parse('one\r\n```tool\r\n{"name":"a"}\r\n```\r\ntwo\r\nthree');
      assert.deepEqual([calls(reply), reply.prose], [[["a", {}]], "one\ntwo\nthree"]);
    });

    test("a body too long to be parsed in one go is read all the same", () => {
      const content = "x\n".repeat(50_000);
      assert.deepEqual(calls(parse(write(content))), [["write", { content }]]);
    });

    test("violations past the limit are counted, not listed", () => {
      const reply = parse(`<think>x</think>${fence('{"name":"a"}')}\n${"</think>".repeat(10_007)}`);
      assert.equal(reply.violations.length, 10_001);
      assert.deepEqual(
        [reply.violations.at(-1)?.kind, reply.violations.at(-1)?.message.slice(0, 6)],
        ["too_many_violations", "7 more"],
      );
    });

    test("errors past the limit are counted, not listed", () => {
      const reply = parse(fence("{}").concat("\n").repeat(10_050));
      assert.equal(reply.errors.length, 10_001);
      assert.equal(reply.errors.at(-1)?.code, "too_many_errors");
      assert.match(reply.errors.at(-1)?.message ?? "", /^50 more/);
    });
  });
}

describe("strict, to the letter", () => {
  test("bytes after the object are refused and nothing runs", () => {
    const reply = strict(fence('{"name":"a","args":{}} trailing'));
    assert.deepEqual([calls(reply), codes(reply)], [[], ["expected_single_object"]]);
  });

  test("aliases, drifted fences, bare calls and other dialects are not known", () => {
    assert.deepEqual(calls(strict(fence('{"name":"a","arguments":{"k":1}}'))), [["a", {}]]);
    for (const text of [fence('{"name":"a"}', "tool_code"), '{"name":"a","args":{}}', "<tool_call>x</tool_call>"]) {
      const reply = strict(text);
      assert.deepEqual([calls(reply), codes(reply), kinds(reply), reply.prose], [[], [], [], text]);
    }
  });

  test("an example quoted in another fence runs, as does every json block", () => {
    assert.equal(strict(`\`\`\`markdown\n${fence('{"name":"a"}')}\n\`\`\``).calls.length, 1);
    assert.deepEqual(codes(strict(fence('{"port":80}', "json"))), ["missing_name"]);
  });
});

describe("tolerant, what models really emit", () => {
  test("key aliases are read, with a violation", () => {
    for (const text of [
      '{"tool":"a","args":{"k":1}}',
      '{"name":"a","arguments":{"k":1}}',
      '{"tool_name":"a","parameters":{"k":1}}',
    ]) {
      const reply = tolerant(fence(text));
      assert.deepEqual([calls(reply), kinds(reply)], [[["a", { k: 1 }]], ["key_alias"]]);
    }
  });

  test("the canonical key wins over its aliases, unless it is null", () => {
    const reply = tolerant(fence('{"name":"a","tool":"x","args":{"k":1},"arguments":{"k":2}}'));
    assert.deepEqual([calls(reply), kinds(reply)], [[["a", { k: 1 }]], ["extra_keys"]]);
    const nulled = tolerant(fence('{"name":"a","args":null,"arguments":{"k":2}}'));
    assert.deepEqual([calls(nulled), kinds(nulled)], [[["a", { k: 2 }]], ["key_alias"]]);
  });

  test("arguments beside the name are an error, never a call without them", () => {
    const reply = tolerant(fence('{"name":"delete","path":"src"}'));
    assert.deepEqual([calls(reply), codes(reply)], [[], ["inline_args"]]);
    assert.match(reply.errors[0]?.message ?? "", /`path`/);
  });

  test("keys beside name and args are named in a violation; id and type are not", () => {
    const reply = tolerant(fence('{"name":"a","args":{},"why":"because"}'));
    assert.deepEqual([calls(reply), kinds(reply)], [[["a", {}]], ["extra_keys"]]);
    assert.deepEqual(kinds(tolerant(fence('{"id":"1","type":"function","name":"a","args":{}}'))), []);
  });

  test("several objects in a block all run, with one violation", () => {
    const reply = tolerant(fence('{"name":"a"}\n{"name":"b"}{"name":"c"}'));
    assert.deepEqual(
      [calls(reply), kinds(reply)],
      [
        [
          ["a", {}],
          ["b", {}],
          ["c", {}],
        ],
        ["several_objects"],
      ],
    );
  });

  test("a block runs a thousand objects at most, and the rest is an error", () => {
    const reply = tolerant(fence('{"name":"a"}'.repeat(1001)));
    assert.deepEqual([reply.calls.length, codes(reply)], [1000, ["expected_single_object"]]);
  });

  test("complete objects are kept before a broken tail, which is an error", () => {
    const cases = [
      ['{"name":"a"} trailing', "expected_single_object"],
      ['{"name":"a"}\n{"name":"b","args":{"c":"half', "unterminated"],
      ['{"name":"a"}\n{nope}', "invalid_json"],
    ] as const;
    for (const [body, code] of cases) {
      const reply = tolerant(`\`\`\`tool\n${body}`);
      assert.deepEqual([calls(reply), codes(reply)], [[["a", {}]], [code]], body);
    }
  });

  test("an opener closes the block before it, with a violation", () => {
    const reply = tolerant('```tool\n{"name":"a"}\n```tool\n{"name":"b"}\n```\nend');
    assert.deepEqual(
      [calls(reply), kinds(reply), reply.prose],
      [
        [
          ["a", {}],
          ["b", {}],
        ],
        ["opener_closed_block"],
        "end",
      ],
    );
  });

  test("an opener saves the blocks after one that was never closed", () => {
    const reply = tolerant('```tool\n{"name":"a","args":{"c":"half\n```tool\n{"name":"b"}\n```');
    assert.deepEqual([calls(reply), codes(reply)], [[["b", {}]], ["unterminated"]]);
  });

  test("drifted fences run, with a violation", () => {
    for (const info of ["tool_code", "tool_call", "function_call", "tool python", "tool  ls"]) {
      const reply = tolerant(fence('{"name":"a"}', info));
      assert.deepEqual([calls(reply), kinds(reply)], [[["a", {}]], ["drifted_fence"]], info);
    }
    const tilde = tolerant('~~~tool\n{"name":"a"}\n~~~\nend');
    assert.deepEqual([calls(tilde), kinds(tilde), tilde.prose], [[["a", {}]], ["drifted_fence"], "end"]);
  });

  test("a reply that is one bare call runs, with a violation, its strings untouched", () => {
    const args = { text: "a <think>b</think> c </think> ```tool" };
    const text = JSON.stringify({ name: "w", args });
    for (const reply of [
      tolerant(text),
      tolerant(`\n${text}\n`),
      tolerant(`<think>x</think>\n${text}`),
      tolerant(`x</think>${text}`),
    ]) {
      assert.deepEqual([calls(reply), kinds(reply), reply.prose], [[["w", args]], ["bare_call"], ""]);
    }
    assert.deepEqual(calls(tolerant('{"name":"ls"}', ["ls"])), [["ls", {}]]);
    assert.deepEqual(codes(parseToolCalls(text, { cut: true })), ["cut_call"]);
  });

  test("a bare object that is no call of a registered tool stays prose", () => {
    for (const [text, tools, expected] of [
      ['{"port":80}', undefined, []],
      ['{"name":"Ada"}', undefined, []],
      ['{"name":"rm","args":{}}', ["ls"], ["unregistered_call"]],
      ['{"name":"rm","args":{}} and more', undefined, []],
    ] as const) {
      const reply = tolerant(text, tools);
      assert.deepEqual([calls(reply), kinds(reply), reply.prose], [[], expected, text]);
    }
  });

  test("a generic wrapper is taken off, with a violation", () => {
    const wrapped = fence('{"name":"tool","args":{"name":"look","args":{"f":"a"}}}');
    const reply = tolerant(wrapped);
    assert.deepEqual([calls(reply), kinds(reply)], [[["look", { f: "a" }]], ["generic_wrapper"]]);
    assert.deepEqual(calls(tolerant(wrapped, ["tool", "look"])), [["tool", { name: "look", args: { f: "a" } }]]);
    const plain = tolerant(fence('{"name":"tool","args":{"name":"look"}}'));
    assert.deepEqual([calls(plain), kinds(plain)], [[["tool", { name: "look" }]], []]);
  });

  test("a channel suffix is cut off a name, with a violation", () => {
    const reply = tolerant(fence('{"name":"run<|channel|>commentary","args":{}}'));
    assert.deepEqual([calls(reply), kinds(reply)], [[["run", {}]], ["channel_suffix"]]);
  });

  test("a json block is a call only of a registered tool, else it stays prose", () => {
    const data = 'The config:\n```json\n{"port": 80}\n```\nThat is all.';
    assert.deepEqual(tolerant(data, ["ls"]), {
      calls: [],
      errors: [],
      violations: [],
      prose: data,
      reasoning: "",
      ignored: [],
    });
    const known = tolerant(fence('{"name":"ls","args":{}}', "json"), ["ls"]);
    assert.deepEqual([calls(known), kinds(known), known.prose], [[["ls", {}]], ["json_fence"], ""]);
    const text = fence('{"name":"rm","args":{}}', "json");
    const unknown = tolerant(text, ["ls"]);
    assert.deepEqual([calls(unknown), kinds(unknown), unknown.prose], [[], ["unregistered_call"], text]);
    assert.deepEqual(tolerant(fence('{"name":"Ada","age":36}', "json"), ["ls"]).errors, []);
    assert.deepEqual(codes(tolerant(fence('{"name":"ls","path":"src"}', "json"))), ["inline_args"]);
    assert.deepEqual(tolerant(fence("// comment\n{}", "json")).errors, []);
  });

  test("calls in tags of no known dialect are one violation for the reply", () => {
    for (const text of [
      "<tool_call>\nls({})\n</tool_call>",
      "<tool_calls><invoke name='ls'></invoke></tool_calls>",
      "Sure. <function_call>ls",
      "[TOOL_CALLS] is a token.",
      "<|tool_call|>ls",
      "<\uff5ctool\u2581calls\u2581begin\uff5c> is a token.",
    ]) {
      const reply = tolerant(text);
      assert.deepEqual([calls(reply), codes(reply), kinds(reply)], [[], [], ["other_dialect"]], text);
    }
    assert.deepEqual(kinds(tolerant("The `<tool_call>` tag is old.\n```xml\n<tool_call>\n```")), []);
  });

  test("a line that holds an opener and opened nothing is an error", () => {
    for (const line of [
      "```Tool",
      "````tool",
      "> ```tool",
      "Now: ```tool",
      "~~~TOOL",
      '```tool {"name":"ls"}',
      "\ufeff```tool",
    ]) {
      const reply = tolerant(`Text.\n${line}\n{"name":"ls"}`);
      assert.deepEqual([calls(reply), codes(reply), reply.errors[0]?.line], [[], ["not_an_opener"], 2], line);
    }
    assert.deepEqual(codes(tolerant("a ```tool b ```tool c\nd ```tool")), ["not_an_opener", "not_an_opener"]);
  });

  test("a line that only looks like an opener is no error inside reasoning or another fence", () => {
    assert.deepEqual(codes(tolerant("<think>use ```tool here</think>ok")), []);
    assert.deepEqual(codes(tolerant("```js\nconst a = '```tool';\n```")), []);
  });

  test("a block quoted in an open fence is not run, and the prose keeps it", () => {
    const text = `See:\n\`\`\`markdown\n${fence('{"name":"rm"}')}\n\`\`\``;
    const reply = tolerant(text);
    assert.deepEqual([calls(reply), codes(reply), reply.errors[0]?.line, reply.prose], [[], ["quoted_call"], 3, text]);
    assert.deepEqual(codes(tolerant(`\`\`\`\`md\n${fence('{"name":"rm"}')}\n\`\`\`\`\n${fence('{"name":"ls"}')}`)), [
      "quoted_call",
    ]);
  });

  test("a longer fence closes the shorter ones it holds, and tags on its line do not make it an opener", () => {
    assert.deepEqual(calls(tolerant(`\`\`\`\`md\n\`\`\`js\nx\n\`\`\`\`\n${fence('{"name":"ls"}')}`)), [["ls", {}]]);
    const reply = tolerant(`${fence('{"name":"a"}')}\n\`\`\`js\nx\n\`\`\` </think>\n${fence('{"name":"b"}')}`);
    assert.deepEqual(
      [calls(reply), codes(reply), kinds(reply)],
      [
        [
          ["a", {}],
          ["b", {}],
        ],
        [],
        ["orphan_reasoning_close"],
      ],
    );
  });

  test("a line that begins with inline code opens no fence", () => {
    assert.deepEqual(calls(tolerant(`\`\`\`x\`\`\` is code.\n${fence('{"name":"ls"}')}`)), [["ls", {}]]);
  });

  test("a json block quoted in an open fence is a quotation too, if it is a call", () => {
    assert.deepEqual(codes(tolerant(`\`\`\`md\n${fence('{"name":"rm"}', "json")}\n\`\`\``)), ["quoted_call"]);
    assert.deepEqual(codes(tolerant(`\`\`\`md\n${fence('{"port":80}', "json")}\n\`\`\``)), []);
  });

  test("only a fence with an info string opens, a bare one only closes", () => {
    assert.deepEqual(calls(tolerant(`\`\`\`\nplain\n${fence('{"name":"ls"}')}`)), [["ls", {}]]);
    assert.deepEqual(calls(tolerant(`\`\`\`js\ncode\n\`\`\`\n${fence('{"name":"ls"}')}`)), [["ls", {}]]);
    const nested = tolerant(`\`\`\`md\n\`\`\`js\nx\n\`\`\`\n${fence('{"name":"rm"}')}\n\`\`\``);
    assert.deepEqual([calls(nested), codes(nested)], [[], ["quoted_call"]]);
    assert.deepEqual(calls(tolerant(`~~~js\n\`\`\`\n~~~\n${fence('{"name":"ls"}')}`)), [["ls", {}]]);
  });
});
