import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { test } from "node:test";

import fc from "fast-check";

import { argvLine, argvNotes } from "./argv-line.ts";

test("every argument keeps its ends, and signs of a shell are quoted", () => {
  assert.equal(argvLine(["grep", "-q", "ok", "notes.txt", "&&", "npm", "test"]), "grep -q ok notes.txt '&&' npm test");
  assert.equal(
    argvLine(["printf", "", "a b", "it's", "$HOME", "~", "*"]),
    "printf '' 'a b' 'it'\\''s' '$HOME' '~' '*'",
  );
  assert.equal(argvLine([]), "");
});

test("what a reader would not see is written out, on one line", () => {
  assert.equal(
    argvLine(["a", "safe\u202egnp", "x\ny\t'\\", "\u{e0041}1"]),
    "a $'safe\\u202egnp' $'x\\ny\\t\\'\\\\' $'\\U000e00411'",
  );
  assert.equal(argvLine(["a", "b\u00a0c", "\u2800"]), "a $'b\\u00a0c' $'\\u2800'");
  assert.equal(argvLine(["a", "\ud800"]), "a $'\\ud800'");
});

test("the name of a program is not taken for a variable or a word of the shell", () => {
  assert.equal(argvLine(["A=b", "c=d"]), "'A=b' c=d");
  assert.equal(argvLine(["if", "if"]), "'if' if");
  assert.equal(argvLine(["=ls"]), "'=ls'");
});

test("a place for any words is shown as it is", () => {
  assert.equal(argvLine(["npm", "*", "a b"], { placeholder: "*" }), "npm * 'a b'");
});

test("a shell reads the same arguments back", { skip: !existsSync("/bin/bash") }, () => {
  const word = fc.string({
    unit: fc.constantFrom(
      ...("ab1 '\"\\$`!*?~#&|;<>(){}[]=\n\t\r\u0001\u001b\u007f\u00a0\u202e\u200b😀é".match(/[^]/gu) ?? []),
    ),
  });
  fc.assert(
    fc.property(fc.array(fc.array(word, { minLength: 1, maxLength: 5 }), { minLength: 20, maxLength: 20 }), (lines) => {
      const script = lines
        .map((words) => `printf '%s\\0' ${argvLine(["x", ...words]).slice(2)}; printf '\\0\\0'`)
        .join("\n");
      const told = execFileSync("/bin/bash", ["--norc", "-c", script], {
        env: { LC_ALL: "C.UTF-8" },
        encoding: "utf8",
      });
      assert.equal(told, lines.map((words) => `${words.map((each) => `${each}\0`).join("")}\0\0`).join(""));
    }),
    { numRuns: 10 },
  );
});

test("signs of a shell that are arguments, and invisible characters, are pointed out", () => {
  assert.deepEqual(argvNotes(["grep", "-q", "ok", "&&", "npm", "&&"]), [
    "note: Tutti starts this without a shell; '&&' is an argument of grep",
  ]);
  assert.match(
    argvNotes(["sh", "-c", `a; ${"b".repeat(90)}`, "$HOME", "*", "`x`"])[0] ?? "",
    /'a; b+…, '\$HOME', '\*' and 1 more are arguments of sh$/,
  );
  assert.match(argvNotes(["a", "b\u202e"]).join(), /cannot be seen/);
  assert.deepEqual(argvNotes(["npm", "test", "--", "a b", "it's"]), []);
});
