import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "../../../test/support/properties.ts";

import { widthOf } from "./fit.ts";
import { markdownLines, markdownStream } from "./markdown.ts";
import { painted, rendered } from "./style.ts";

const how = { width: 40, indent: 2, paint: painted };
const shown = (text: string, options: Parameters<typeof markdownLines>[1] = how): string =>
  rendered(markdownLines(text, options).join("\n"), { colors: true });

test("headings, lists, bold text, code and links are shown as what they are, with their indent", () => {
  assert.equal(shown("## The **end**"), "  \u001b[1mThe end\u001b[0m");
  assert.equal(shown("a **b c** `d`, 2 * 3"), "  a \u001b[1mb c\u001b[0m \u001b[34md\u001b[0m, 2 * 3");
  assert.equal(shown("[here](https://a.example/b)"), "  here \u001b[2m(https://a.example/b)\u001b[0m");
  assert.equal(
    shown("- one two three four five six seven eight\n  1. nine"),
    "  • one two three four five six seven\n    eight\n    1. nine",
  );
  assert.equal(shown("```ts\nlet  x = `1`;\n```\nafter"), "  \u001b[2mts\u001b[0m\n      let  x = `1`;\n  after");
  assert.equal(shown("> quoted"), "  │ quoted");
});

test("without colours, the marks that would be lost stay", () => {
  const text = "# A\n**b** and `c`";
  assert.equal(shown(text, { width: 40, indent: 0, paint: (_, each) => each }), text);
});

test("a long paragraph is shown row by row while it is being written", () => {
  const stream = markdownStream(how);
  const lines = stream.push("one two three four five six seven eight nine **ten** eleven twelve");
  assert.deepEqual(lines, ["  one two three four five six seven"]);
  assert.deepEqual(stream.end(), [`  eight nine ${painted("bold", "ten")} eleven twelve`]);
});

const piece = fc.oneof(
  fc.constantFrom("**", "*", "`", "```", "~~~", "\n", "\n\n", "# ", "- ", "1. ", "> ", "[", "](", ")", " ", "\t", "漢"),
  fc.string({ maxLength: 12 }),
  fc.string({ unit: "grapheme", maxLength: 6 }),
  fc.constant("word ".repeat(30)),
);
const text = fc.array(piece, { maxLength: 40 }).map((all) => all.join(""));
const options = fc.record({
  width: fc.integer({ min: 20, max: 90 }),
  indent: fc.integer({ min: 0, max: 12 }),
  paint: fc.constantFrom<typeof painted>(painted, (_, each) => each),
});

/** What may be lost or added: the marks of Markdown, spaces, and signs that stand for marks. */
const marks = /[\s#*`~>+•│()[\]-]/g;

test("no text is lost and no row is too wide, whatever the text is", () => {
  fc.assert(
    fc.property(text, options, (given, to) => {
      const lines = markdownLines(given, to).map((line) => rendered(line, { colors: false }));
      const all = rendered(given, { colors: false });
      assert.equal(lines.join("").replaceAll(marks, ""), all.replaceAll(marks, ""));
      for (const line of lines) assert.ok(widthOf(line) <= to.width, line);
    }),
    { numRuns: 500 },
  );
});

test("the same is shown in whatever pieces the text comes", () => {
  fc.assert(
    fc.property(text, options, fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 60 }), (given, to, sizes) => {
      const stream = markdownStream(to);
      const lines: string[] = [];
      let at = 0;
      for (const size of sizes) {
        // A delta never ends in the middle of a line end, which is one character of two.
        lines.push(...stream.push(given.slice(at, at + size)));
        at += size;
      }
      lines.push(...stream.push(given.slice(at)), ...stream.end());
      assert.deepEqual(lines, markdownLines(given, to));
    }),
    { numRuns: 500 },
  );
});
