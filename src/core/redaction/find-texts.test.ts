import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "../../../test/support/properties.ts";

import { type FindText, findTexts, shortestText } from "./find-texts.ts";

/** What it must be, without being clever. */
function plainly(texts: readonly string[], text: string, from: number): ReturnType<FindText> {
  const all = texts.flatMap((each, index) => {
    const start = each.length < shortestText ? -1 : text.indexOf(each, from);
    return start === -1 ? [] : [{ start, end: start + each.length, index }];
  });
  return all.toSorted((one, other) => one.start - other.start || other.end - one.end)[0];
}

test("it finds what a plain search finds: the first, and of those at one place the longest", () => {
  const letters = fc.constantFrom("a", "b", "é", "\u{1f600}");
  const known = fc.array(fc.string({ unit: letters, minLength: 1, maxLength: 14 }), { maxLength: 6 });
  fc.assert(
    fc.property(
      known,
      fc.array(fc.string({ unit: letters, maxLength: 12 })),
      fc.nat({ max: 30 }),
      (texts, around, from) => {
        const text = around.flatMap((each, index) => [each, texts[index % Math.max(1, texts.length)] ?? ""]).join("");
        const unique = [...new Set(texts)];
        assert.deepEqual(findTexts(unique)(text, from), plainly(unique, text, from));
      },
    ),
    { numRuns: 3_000 },
  );
});
