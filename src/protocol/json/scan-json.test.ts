import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../../../test/support/properties.ts";
import { scanJson } from "./scan-json.ts";

const verdict = (text: string): string => {
  const scan = scanJson(text, 0, text.length);
  return scan.ok ? (scan.inexactAt === -1 ? "ok" : "inexact") : scan.eof ? "eof" : "syntax";
};

test("any JSON text is valid to its end, in any layout", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), fc.constantFrom(0, 2), (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      const scan = scanJson(`${text} rest`, 0, text.length);
      assert.ok(scan.ok);
      assert.equal(scan.end, text.length);
    }),
    { numRuns: 1000 },
  );
});

test("text that JSON.parse refuses is refused, and the other way round", () => {
  const crumb = fc.constantFrom(
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    '"a"',
    '"',
    "1",
    "-",
    "0",
    ".5",
    "e3",
    "true",
    "nul",
    "l",
    " ",
    "\n",
    "\\n",
    "\\u00e9",
    "\\x",
    "\t",
  );
  fc.assert(
    fc.property(fc.array(crumb, { maxLength: 9 }), (parts) => {
      const text = parts.join("");
      const scan = scanJson(text, 0, text.length);
      const accepted = scan.ok && text.slice(scan.end).replaceAll(/[ \n\t\r]/g, "") === "";
      let parses = true;
      try {
        JSON.parse(text);
      } catch {
        parses = false;
      }
      assert.equal(accepted, parses, JSON.stringify(text));
    }),
    { numRuns: 5000 },
  );
});

test("a JSON text cut anywhere ends too early, unless it is a number", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 3 }), fc.nat(), (value, cut) => {
      const text = JSON.stringify([value]);
      const to = cut % text.length;
      assert.equal(verdict(text.slice(0, to)), "eof");
    }),
    { numRuns: 1000 },
  );
});

test("what is wrong is told from what is missing", () => {
  const cases: readonly (readonly [string, string])[] = [
    ["", "eof"],
    ['{"a":tru', "eof"],
    ['{"a":trx', "syntax"],
    ['{"a":1.', "eof"],
    ['{"a":-', "eof"],
    ['{"a":1e+', "eof"],
    ['{"a":"\\', "eof"],
    ['{"a":"\\u12', "eof"],
    ['{"a":"\\u12g4"}', "syntax"],
    ['{"a":"\\ud83d', "eof"],
    ['{"a":"\\ud83d\\', "eof"],
    ['{"a":"\\ud83d\\u00', "eof"],
    ['{"a":"\\ud83dx"}', "syntax"],
    ['{"a":"\\ud83d\\n"}', "syntax"],
    ['{"a":"\\ud83d\\u0041"}', "syntax"],
    ['{"a":"\ude00"}', "syntax"],
    ['{"a":1,}', "syntax"],
    ['{"a":1,', "eof"],
    ["{a:1}", "syntax"],
    ['{"a" 1}', "syntax"],
    ['{"a":01}', "syntax"],
    ['{"a":+1}', "syntax"],
    ['{"a":NaN}', "syntax"],
    ['{"a":1e999}', "syntax"],
    [`{"a":${"9".repeat(400)}}`, "syntax"],
    ['{"a":1e-999}', "ok"],
    ['{"a":9007199254740993}', "inexact"],
    ['{"a":9007199254740993.0}', "ok"],
    ['{"a":-18446744073709551616}', "ok"],
    ['{"a":"x\ny"}', "syntax"],
    ['{"a":"x\u007fy"}', "ok"],
    [`${"[".repeat(127)}${"]".repeat(127)}`, "ok"],
    [`${"[".repeat(128)}`, "syntax"],
  ];
  for (const [text, expected] of cases) assert.equal(verdict(text), expected, text);
});

test("nothing outside the bounds is read", () => {
  assert.deepEqual(scanJson('xx{"a":1}yy', 2, 9), { ok: true, end: 9, inexactAt: -1 });
  const cut = scanJson('{"a":12345}', 0, 5);
  assert.ok(!cut.ok && cut.eof && cut.at === 5);
});
