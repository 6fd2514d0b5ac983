import assert from "node:assert/strict";
import { describe, test } from "node:test";

import fc from "../../../test/support/properties.ts";

import { Decision } from "./decision.ts";
import { parseDecision } from "./parse-decision.ts";

const text = fc.string({ unit: "binary", maxLength: 30 });
const texts = fc.array(text, { maxLength: 3 });
const taskSpec = fc.record(
  {
    workdir: text,
    prompt: fc.oneof(text, fc.constantFrom("a ```js\n{x}\n``` b", '{"', "}", "\\")),
    model: fc.option(text),
    id: text,
    after: texts,
    checks: fc.array(fc.oneof(text, fc.record({ run: fc.array(text, { minLength: 1, maxLength: 3 }) })), {
      maxLength: 2,
    }),
    conf: fc.double({ min: 0, max: 1, noNaN: true, noDefaultInfinity: true }).map((conf) => conf + 0),
    risks: texts,
    scope: text,
  },
  { requiredKeys: ["workdir", "prompt", "model"] },
);
const anyDecision: fc.Arbitrary<Decision> = fc
  .oneof(
    fc.record({ action: fc.constant("delegate" as const), tasks: fc.array(taskSpec, { maxLength: 3 }) }),
    fc.record({ action: fc.constant("respond" as const), message: text }),
    fc.record({ action: fc.constant("do_work" as const), summary: text }),
  )
  .map((decision) => Decision.parse(decision));
const layout = fc.constantFrom(undefined, 0, 2, "\t");
const soup = fc
  .array(
    fc.constantFrom(
      ...'{}[]":,\\`\n '.split(""),
      '"action"',
      '"delegate"',
      '"respond"',
      '"message":"m"',
      '"tasks":[',
      "```json\n",
      "```",
      '{"a":',
      "1",
      "null",
      "x",
      '{"action":"respond","message":"m"}',
      '{"action":"delegate","tasks":[]}',
      '{"action":"do_work"',
      '"\\u0061ction"',
    ),
    { maxLength: 120 },
  )
  .map((parts) => parts.join(""));

describe("for any reply", () => {
  test("soup of braces, quotes, fences and actions never throws, and never changes the words of a fallback", () => {
    fc.assert(
      fc.property(soup, (reply) => {
        const { decision, recovered } = parseDecision(reply);
        assert.ok(Decision.safeParse(decision).success);
        if (!recovered && decision.action === "respond" && decision.message !== "m") {
          assert.equal(decision.message, reply.replace(/^[ \n]+|[ \n]+$/g, ""));
        }
      }),
      { numRuns: 3000 },
    );
  });

  test("the first candidate that parses wins, exactly as a plain search would have it", () => {
    fc.assert(
      fc.property(soup, (reply) => {
        const expected = plainSearch(reply);
        const { decision, recovered } = parseDecision(reply);
        if (expected === null) assert.ok(recovered || decision.action === "respond");
        else assert.deepEqual([decision, recovered], [expected, false]);
      }),
      { numRuns: 3000 },
    );
  });

  test("a decision of any shape parses back from prose, a fence, a prefix or a suffix", () => {
    const wraps = fc.constantFrom(
      (json: string) => json,
      (json: string) => `Here is my plan.\n${json}\nThat's all.`,
      (json: string) => `\`\`\`json\n${json}\n\`\`\``,
      (json: string) => `Sure:\n\`\`\`\n${json}\n\`\`\`\nDone {ok}.`,
      (json: string) => `{note}: ${json} } {`,
      (json: string) => `\ufeff${json}`,
    );
    fc.assert(
      fc.property(anyDecision, layout, wraps, (decision, indent, wrap) => {
        const parsed = parseDecision(wrap(JSON.stringify(decision, null, indent)));
        assert.deepEqual([parsed.decision, parsed.recovered, parsed.dropped], [decision, false, []]);
      }),
      { numRuns: 1000 },
    );
  });

  test("recovery digs a decision of any shape out of wrappers", () => {
    const wraps = fc.constantFrom(
      (json: string) => `{"decision":${json}}`,
      (json: string) => `{"a":[{"b":${json}}],"c":{}}`,
      (json: string) => `{"decision":${json}`,
    );
    fc.assert(
      fc.property(anyDecision, layout, wraps, (decision, indent, wrap) => {
        const parsed = parseDecision(wrap(JSON.stringify(decision, null, indent)));
        assert.deepEqual([parsed.decision, parsed.recovered, parsed.dropped], [decision, true, []]);
      }),
      { numRuns: 500 },
    );
  });

  test("recovery never takes an action when two different ones stand in the reply", () => {
    const frames = fc.constantFrom(
      (a: string, b: string) => `{"a":${a},"b":${b}}`,
      (a: string, b: string) => `{"a":${a}} then {"b":${b}}`,
      (a: string, b: string) => `{ oh "no ${a} or ${b}`,
      (a: string, b: string) => `{ ${a} ${b.slice(0, -1)}`,
      (a: string, b: string) => `{"a":[${a},{"b":{"c":${b}}}]`,
    );
    fc.assert(
      fc.property(anyDecision, anyDecision, frames, (one, two, frame) => {
        fc.pre(JSON.stringify(one) !== JSON.stringify(two));
        assert.equal(parseDecision(frame(JSON.stringify(one), JSON.stringify(two))).recovered, false);
      }),
      { numRuns: 1000 },
    );
  });
});

/** The candidates and their order spelt out without regard to cost. */
function plainSearch(reply: string): Decision | null {
  const all = reply.replace(/^[ \n]+|[ \n]+$/g, "");
  const open = all.includes("```json") ? all.indexOf("```json") + 7 : all.includes("```") ? all.indexOf("```") + 3 : -1;
  const rest = open === -1 ? "" : all.slice(open).replace(/^.*\n/, "");
  for (const json of [...objects(rest.split("```")[0] ?? "").slice(0, 1), ...objects(all)]) {
    try {
      if (!repeatsKey(json)) return Decision.parse(JSON.parse(json));
    } catch {
      continue;
    }
  }
  return null;
}

function objects(within: string): string[] {
  const found: string[] = [];
  for (let start = within.indexOf("{"); start !== -1;) {
    const end = closing(within, start);
    if (end === -1) break;
    found.push(within.slice(start, end));
    start = within.indexOf("{", end);
  }
  return found;
}

function closing(within: string, start: number): number {
  let depth = 0;
  const token = /"(?:[^"\\]|\\.)*(?:"|$)|[{}]/gs;
  token.lastIndex = start;
  for (let match = token.exec(within); match !== null; match = token.exec(within)) {
    if (match[0] === "{") depth += 1;
    if (match[0] === "}") depth -= 1;
    if (depth === 0) return token.lastIndex;
  }
  return -1;
}

/** A key of the protocol that stands twice in one object is refused, which JSON.parse does not see. */
function repeatsKey(json: string): boolean {
  const protocol = ["action", "tasks", "message", "summary", "workdir", "prompt", "model"];
  const open: Set<string>[] = [];
  for (const [token] of json.matchAll(/"(?:[^"\\]|\\.)*"\s*:|"(?:[^"\\]|\\.)*"|[{}]/gs)) {
    if (token === "{") open.push(new Set());
    else if (token === "}") open.pop();
    else if (token.endsWith(":")) {
      const key: string = JSON.parse(token.slice(0, -1));
      if (protocol.includes(key) && open.at(-1)?.has(key) === true) return true;
      open.at(-1)?.add(key);
    }
  }
  return false;
}
