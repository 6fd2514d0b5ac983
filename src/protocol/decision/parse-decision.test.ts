import assert from "node:assert/strict";
import { describe, test } from "node:test";

import type { Decision } from "./decision.ts";
import { parseDecision } from "./parse-decision.ts";

const fix = { workdir: "/repo", prompt: "fix the bug", model: null };
const delegate: Decision = { action: "delegate", tasks: [fix] };
const delegateText = '{"action":"delegate","tasks":[{"workdir":"/repo","prompt":"fix the bug"}]}';
const hello: Decision = { action: "respond", message: "hello" };
const helloText = '{"action":"respond","message":"hello"}';

function task(fields: Record<string, unknown>): string {
  return JSON.stringify({ action: "delegate", tasks: [{ workdir: "/repo", prompt: "fix the bug", ...fields }] });
}

describe("a reply that is a decision", () => {
  const cases: readonly (readonly [string, string, Decision])[] = [
    [
      "fenced JSON between prose gives both tasks, the second with its model",
      'Plan:\n```json\n{"action":"delegate","tasks":[{"workdir":"/repo","prompt":"fix the bug"},{"workdir":"/b","prompt":"q","model":"opus"}]}\n```\nDone.',
      { action: "delegate", tasks: [fix, { workdir: "/b", prompt: "q", model: "opus" }] },
    ],
    ["a bare object has no model", delegateText, delegate],
    ["an object inside a sentence is found", `I think ${helloText} is right.`, hello],
    [
      "do_work keeps its summary",
      '{"action":"do_work","summary":"edited main"}',
      { action: "do_work", summary: "edited main" },
    ],
    ["plain prose is said to the person", "Tomorrow.", { action: "respond", message: "Tomorrow." }],
    [
      "a json fence goes before a later bare fence",
      `\`\`\`json\n${delegateText}\n\`\`\`\n\`\`\`\nls {a}\n\`\`\``,
      delegate,
    ],
    [
      "a json fence goes before an earlier bare fence",
      `\`\`\`\nls {a}\n\`\`\`\n\`\`\`json\n${delegateText}\n\`\`\``,
      delegate,
    ],
    ["braces in prose after the object do no harm", `${delegateText} see {docs}`, delegate],
    ["braces in prose before the object do no harm", `{see notes} ${helloText}`, hello],
    [
      "braces inside a string are text",
      '{"action":"respond","message":"a } b { c"}',
      { action: "respond", message: "a } b { c" },
    ],
    [
      "escaped quotes inside a string are text",
      '{"action":"respond","message":"say \\"go {now}\\""}',
      { action: "respond", message: 'say "go {now}"' },
    ],
    ["a stray closing brace does no harm", `} ${helloText} }`, hello],
    ["a key may be written with escapes", '{"\\u0061ction":"\\u0072espond","message":"hello"}', hello],
    ["missing tasks are no tasks", '{"action":"delegate"}', { action: "delegate", tasks: [] }],
    ["a null model is no model", task({ model: null }), delegate],
    ["blank tasks parse", task({ prompt: " " }), { action: "delegate", tasks: [{ ...fix, prompt: " " }] }],
  ];
  for (const [name, reply, decision] of cases) {
    test(name, () => {
      const parsed = parseDecision(reply);
      assert.deepEqual([parsed.decision, parsed.recovered, parsed.dropped], [decision, false, []]);
    });
  }

  test("the optional fields of a task are kept, unknown ones are not", () => {
    const fields = {
      id: "a",
      after: ["b"],
      checks: ["npm test", { run: ["git", "diff", "--quiet"] }],
      acceptance: ["green"],
      agent: "coder",
      runtime: "acp",
      conf: 0.5,
      risks: ["slow"],
      assumptions: ["node"],
      scope: "src only",
    };
    const { decision, dropped } = parseDecision(task({ ...fields, mood: "good" }));
    assert.deepEqual([decision, dropped], [{ action: "delegate", tasks: [{ ...fix, ...fields }] }, []]);
  });
});

describe("a reply that is not a decision is shown as it is", () => {
  const deep = (levels: number): string =>
    `{"action":"respond","message":"m","x":${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}}`;
  const cases: readonly (readonly [string, string])[] = [
    ["a message is required", '{"action":"respond"}'],
    ["a message must be text", '{"action":"respond","message":5}'],
    ["tasks must be a list", '{"action":"delegate","tasks":null}'],
    ["a summary must be text", '{"action":"do_work","summary":null}'],
    ["names of actions are case-sensitive", '{"action":"Delegate","tasks":[]}'],
    ["an action said twice is unclear", '{"action":"respond","action":"do_work","message":"m"}'],
    ["a message said twice is unclear", '{"action":"respond","message":"a","message":"b"}'],
    ["a prompt said twice is unclear", '{"action":"delegate","tasks":[{"workdir":"/r","prompt":"a","prompt":"b"}]}'],
    ["half a surrogate pair is not JSON", '{"action":"respond","message":"\\ud83d"}'],
    ["a number no double can hold is not JSON", '{"action":"respond","message":"m","n":1e999}'],
    ["a raw line break in a string is not JSON", '{"action":"respond","message":"a\nb"}'],
    ["more than 127 levels are too many", deep(128)],
  ];
  for (const [name, reply] of cases) {
    test(name, () => {
      const parsed = parseDecision(`  ${reply}\n`);
      assert.deepEqual(parsed.decision, { action: "respond", message: reply });
      assert.deepEqual([parsed.recovered, parsed.reprompt], [false, "no_decision"]);
    });
  }

  test("127 levels are not too many", () => {
    assert.deepEqual(parseDecision(deep(127)).decision, { action: "respond", message: "m" });
  });

  test("U+0085 is trimmed and U+FEFF is not", () => {
    assert.deepEqual(parseDecision("\u0085\ufeffhi\u0085").decision, { action: "respond", message: "\ufeffhi" });
  });
});

describe("recovery", () => {
  const found: readonly (readonly [string, string])[] = [
    ["looks behind a brace that is never closed", `{ hm: ${delegateText}`],
    ["looks behind an odd quote in a prose brace", `{ say "hi } ${delegateText}`],
    ["looks behind an object spoilt by a quote", `{"say": "hi } ${delegateText}`],
    ["looks inside a wrapper", `{"decision":${delegateText}}`],
    ["looks inside wrappers of wrappers and lists", `{"a":[1,{"b":[[${delegateText}]]}]}`],
    ["looks inside a wrapper that is never closed", `{"decision":${delegateText}`],
    ["looks inside wrappers too deep to be read", `${'{"a":'.repeat(500)}${delegateText}${"}".repeat(500)}`],
    ["takes copies of one action for one", `{"a":${delegateText},"b":${delegateText}}`],
    ["takes a copy in another layout for the same", `{"a":${delegateText},"b":${JSON.stringify(delegate, null, 2)}}`],
  ];
  for (const [name, reply] of found) {
    test(name, () => {
      const parsed = parseDecision(reply);
      assert.deepEqual([parsed.decision, parsed.recovered, parsed.dropped], [delegate, true, []]);
    });
  }

  test("drops malformed tasks one at a time and lists each", () => {
    const tasks = [{ workdir: 3, prompt: "p" }, fix, "no task", { workdir: "/b", prompt: "q", model: 5 }];
    const parsed = parseDecision(JSON.stringify({ action: "delegate", tasks }));
    assert.deepEqual([parsed.decision, parsed.recovered, parsed.reprompt], [delegate, true, null]);
    assert.deepEqual(
      parsed.dropped.map(({ what }) => what),
      ["tasks[0]", "tasks[2]", "tasks[3]"],
    );
    assert.match(parsed.dropped[0]?.reason ?? "", /workdir/);
    assert.match(parsed.dropped[2]?.reason ?? "", /model/);
  });

  test("is respond when no task is left", () => {
    const reply = '{"action":"delegate","tasks":[{"workdir":7,"prompt":"p"},{}]}';
    const parsed = parseDecision(reply);
    assert.deepEqual([parsed.decision, parsed.recovered], [{ action: "respond", message: reply }, false]);
    assert.equal(parsed.dropped.length, 2);
    assert.equal(parsed.reprompt, "no_decision");
  });

  const unclear: readonly (readonly [string, string, number])[] = [
    ["two different wrapped actions", `{"example":${delegateText},"real":${helloText}}`, 2],
    ["an action inside the action", `{"a":{"action":"respond","message":"m","note":${helloText}}}`, 1],
    ["an action beside one without its field", `{"a":${delegateText},"b":{"action":"respond"}}`, 2],
    ["a delegation quoted in a broken reply", `{"action":"respond","message":"never say ${delegateText}"}`, 2],
    [
      "a delegation quoted before the broken reply says its name",
      `{"message":"never ${delegateText}","action":"respond"}`,
      2,
    ],
    [
      "an action behind one that was cut short",
      `{"action":"delegate","tasks":[{"work\n${helloText.slice(0, -1)},"x":1`,
      2,
    ],
  ];
  for (const [name, reply, dropped] of unclear) {
    test(`takes nothing from ${name}`, () => {
      const parsed = parseDecision(reply);
      assert.deepEqual([parsed.decision, parsed.recovered], [{ action: "respond", message: reply }, false]);
      assert.deepEqual([parsed.dropped.length, parsed.reprompt], [dropped, "no_decision"]);
    });
  }

  test("gives up past its share of reading, and says so", () => {
    const reply = `{"decision":${delegateText}}`;
    const parsed = parseDecision(` { hm ${reply}`, { scanFactor: 0.5 });
    assert.deepEqual(parsed.decision, { action: "respond", message: `{ hm ${reply}` });
    assert.deepEqual(
      parsed.dropped.map(({ what }) => what),
      ["rest of the reply"],
    );
    assert.equal(parseDecision(` { hm ${reply}`).recovered, true);
  });

  test("a share of reading used up does not touch a decision that needs no recovery", () => {
    const parsed = parseDecision(`${delegateText} {"x":{"y":1}}`, { scanFactor: 0 });
    assert.deepEqual([parsed.decision, parsed.recovered], [delegate, false]);
  });
});

describe("what was dropped", () => {
  test("a field of a wrong type is dropped, its task stays", () => {
    const parsed = parseDecision(task({ conf: "high", after: "a", risks: ["slow"], checks: [{ run: [] }] }));
    assert.deepEqual(parsed.decision, { action: "delegate", tasks: [{ ...fix, risks: ["slow"] }] });
    assert.equal(parsed.recovered, false);
    assert.deepEqual(
      parsed.dropped.map(({ what }) => what),
      ["tasks[0].conf", "tasks[0].after", "tasks[0].checks"],
    );
  });

  test("a task may be an array of its first fields in their order, which is told", () => {
    const tasks = [["/repo", "fix the bug"], ["/b", "q", "opus"], ["/repo"], ["/repo", "q", null, 1], ["/repo", 7]];
    const { decision, dropped } = parseDecision(JSON.stringify({ action: "delegate", tasks }));
    assert.deepEqual(decision, { action: "delegate", tasks: [fix, { workdir: "/b", prompt: "q", model: "opus" }] });
    assert.deepEqual(dropped.map(({ what }) => what).toSorted(), [
      "tasks[0]",
      "tasks[1]",
      "tasks[2]",
      "tasks[3]",
      "tasks[4]",
    ]);
    assert.deepEqual(parseDecision(JSON.stringify({ action: "delegate", tasks: [tasks[0]] })), {
      decision: delegate,
      recovered: false,
      dropped: [{ what: "tasks[0]", reason: "it names no fields; it was read in their order" }],
      reprompt: null,
    });
  });

  test("a confidence outside 0 to 1 is dropped, never bent", () => {
    assert.deepEqual(parseDecision(task({ conf: 85 })).decision, delegate);
  });

  test("a null in an optional field is the same as leaving it out", () => {
    const parsed = parseDecision(task({ agent: null, conf: null }));
    assert.deepEqual([parsed.decision, parsed.dropped], [delegate, []]);
  });

  const other: readonly (readonly [string, string])[] = [
    ["behind the decision", `${helloText} ${delegateText}`],
    ["before the fence", `${delegateText}\n\`\`\`json\n${helloText}\n\`\`\``],
    ["in a wrapper", `${helloText} {"x":{"y":[${delegateText}]}}`],
    ["in the decision itself", `{"action":"respond","message":"hello","x":${delegateText}}`],
    ["behind a brace that is never closed", `${helloText} { ${delegateText}`],
    ["cut short", `${helloText} ${delegateText.slice(0, -1)}`],
    ["malformed", `{"action":"delegate","tasks":[7]} ${helloText}`],
    ["more than once", `${helloText} ${delegateText} ${delegateText}`],
  ];
  for (const [place, reply] of other) {
    test(`an action ${place} is listed once`, () => {
      const parsed = parseDecision(reply);
      assert.deepEqual([parsed.decision, parsed.recovered], [hello, false]);
      assert.deepEqual(parsed.dropped.length, 1);
      assert.match(parsed.dropped[0]?.what ?? "", /^action delegate at character \d+$/);
    });
  }

  test("copies of the decision are not other actions", () => {
    const copies = `\`\`\`json\n${delegateText}\n\`\`\`\n${delegateText} {"x":${JSON.stringify(delegate, null, 1)}}`;
    assert.deepEqual(parseDecision(copies).dropped, []);
  });

  test("an action told inside a string is not an action", () => {
    const reply = JSON.stringify({ action: "respond", message: delegateText });
    assert.deepEqual(parseDecision(reply).dropped, []);
  });

  test("of a hostile many the first thousand are named and the rest counted", () => {
    const many = Array.from({ length: 1500 }, (_, index) => `{"action":"respond","message":"${index}"}`);
    const { dropped } = parseDecision(many.join(""));
    assert.equal(dropped.length, 1001);
    assert.equal(dropped.at(-1)?.what, "499 more actions");
  });
});

describe("whether to ask the manager again", () => {
  const cases: readonly (readonly [string, string, string | null])[] = [
    ["a decision needs no second try", delegateText, null],
    ["prose needs no second try", "Which repository?", null],
    ["an action key without a decision does", '{"action": "launch"}', "no_decision"],
    ["no tasks are nothing delegated", '{"action":"delegate","tasks":[]}', "nothing_delegated"],
    ["only blank tasks are nothing delegated", task({ workdir: "\t" }), "nothing_delegated"],
    ["a refused action is for the refusal", '{"action":"do_work"}', null],
  ];
  for (const [name, reply, reprompt] of cases) {
    test(name, () => assert.equal(parseDecision(reply).reprompt, reprompt));
  }
});

describe("what the manager proposes for the whole goal", () => {
  test("the acceptance of a delegation is kept beside its tasks", () => {
    const reply = `{"action":"delegate","tasks":[{"workdir":"/repo","prompt":"fix the bug","kind":"code_change"}],"acceptance":["green"]}`;
    const { decision, dropped } = parseDecision(reply);
    assert.deepEqual(decision, {
      action: "delegate",
      tasks: [{ ...fix, kind: "code_change" }],
      acceptance: ["green"],
    });
    assert.deepEqual(dropped, []);
  });

  test("an acceptance of a wrong type is dropped and reported, and the tasks stay", () => {
    const { decision, dropped } = parseDecision(`${delegateText.slice(0, -1)},"acceptance":"green"}`);
    assert.deepEqual(decision, delegate);
    assert.deepEqual(
      dropped.map(({ what }) => what),
      ["acceptance"],
    );
  });
});
