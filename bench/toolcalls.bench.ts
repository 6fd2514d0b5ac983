// Parsing whole replies against bare JSON.parse of the block bodies they hold; half of the bytes are inside bodies.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { parseToolCalls } from "../src/protocol/toolcalls/parse-tool-calls.ts";
import { bestOf, report, round } from "./measure.ts";

interface Reply {
  readonly text: string;
  /** Where the block bodies stand in the text. */
  readonly bodies: readonly (readonly [number, number])[];
}

const lines = readFileSync(`${import.meta.dirname}/data/replies.jsonl`, "utf8")
  .trimEnd()
  .split("\n");
const replies = lines.map((line): Reply => JSON.parse(line));
const texts = replies.map((reply) => reply.text);
const bodies = replies.flatMap(({ text, bodies: places }) => places.map(([from, to]) => text.slice(from, to)));

const bytes = (parts: readonly string[]): number => parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0);
const share = bytes(bodies) / bytes(texts);
assert.ok(share > 0.48 && share < 0.52, `half of the bytes must be inside bodies, not ${share}`);
for (const { text, bodies: places } of replies) {
  const { calls, errors } = parseToolCalls(text);
  assert.deepEqual(errors, []);
  const expected = places.map(([from, to]) => JSON.parse(text.slice(from, to)));
  assert.deepEqual(
    calls.map(({ name, args }) => ({ name, args })),
    expected.map(({ name, args }) => ({ name, args: args ?? {} })),
  );
}

const passes = 8;
let sink = 0;
const best = bestOf(40, {
  floor() {
    for (let pass = 0; pass < passes; pass += 1) for (const body of bodies) if (JSON.parse(body) !== null) sink += 1;
  },
  parse() {
    for (let pass = 0; pass < passes; pass += 1) for (const text of texts) sink += parseToolCalls(text).prose.length;
  },
});
assert.ok(sink > 0);

report({
  name: "toolcalls",
  ratio: best.parse / best.floor,
  target: 2,
  figures: {
    replies: texts.length,
    calls: bodies.length,
    kilobytes: Math.round(bytes(texts) / 1024),
    bodyShare: round(share),
    parseMs: round(best.parse / passes),
    floorMs: round(best.floor / passes),
  },
});
