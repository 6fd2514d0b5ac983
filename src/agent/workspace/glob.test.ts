import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "../../../test/support/properties.ts";

import { globMatcher, readIgnoreFile } from "./glob.ts";

test("patterns match as they do everywhere", () => {
  const table: [pattern: string, yes: string[], no: string[]][] = [
    ["*.ts", ["a.ts", "x/y/a.ts", ".ts"], ["a.tsx", "ts"]],
    ["src/*.ts", ["src/a.ts"], ["a.ts", "src/x/a.ts", "x/src/a.ts"]],
    ["/a", ["a"], ["x/a"]],
    ["src/**/*.ts", ["src/a.ts", "src/x/y/a.ts"], ["a.ts"]],
    ["**/b", ["b", "a/b", "a/a/b"], ["ab", "a/bb"]],
    ["a/**", ["a/b", "a/b/c"], ["a", "b/a"]],
    ["?.md", ["a.md", "ž.md", "😀.md"], ["ab.md", ".md"]],
    ["[a-c]x", ["ax", "cx"], ["dx", "-x"]],
    ["[!a-c]x", ["dx"], ["ax", "/x"]],
    ["[z-a]", ["z", "-", "a"], ["b"]],
    ["*.{ts,js}", ["a.ts", "b.js"], ["a.tsjs", "a.{ts,js}"]],
    ["{a", ["{a"], ["a"]],
    ["a.b", ["a.b"], ["axb"]],
    ["\\*", ["*"], ["a"]],
    ["(a|b)+", ["(a|b)+"], ["a"]],
  ];
  for (const [pattern, yes, no] of table) {
    const matches = globMatcher(pattern);
    for (const path of yes) assert.ok(matches(path), `${pattern} ${path}`);
    for (const path of no) assert.ok(!matches(path), `${pattern} ${path}`);
  }
});

test("a pattern of plain characters matches itself and nothing else", () => {
  const plain = fc
    .string({ minLength: 1, maxLength: 8, unit: fc.constantFrom(..."a b . + ^ $ ( ) | - é /".split(" ")) })
    .filter((text) => !text.startsWith("/"));
  fc.assert(
    fc.property(plain, plain, (pattern, path) => {
      if (pattern.includes("/")) assert.equal(globMatcher(pattern)(path), pattern === path);
      else assert.equal(globMatcher(pattern)(path), pattern === path.slice(path.lastIndexOf("/") + 1));
    }),
    { numRuns: 500 },
  );
});

test("no pattern takes long, neither to read nor to match", () => {
  const name = "a".repeat(255);
  const path = `${"a/".repeat(2_000)}a`;
  const begun = performance.now();
  for (const pattern of [
    "*a".repeat(20) + "*b",
    "**/".repeat(20) + "b",
    "{a*,*a}".repeat(10) + "b",
    "{a,aa,aaa}".repeat(30) + "b",
    "*/**/*b",
  ]) {
    assert.equal(globMatcher(pattern)(name), false, pattern);
    assert.equal(globMatcher(pattern)(path), false, pattern);
  }
  assert.ok(globMatcher("*a".repeat(20) + "*")(name));
  const lines = ["{", "[", "*", " x"].map((piece) => piece.repeat(100_000)).join("\n");
  assert.equal(readIgnoreFile(`${lines}\n*.log`).ignores("a.log", false), true);
  assert.ok(performance.now() - begun < 2_000, `${performance.now() - begun} ms`);
});

test("a blank at the end of a rule counts only after a backslash", () => {
  assert.equal(readIgnoreFile("a\\   ").ignores("a ", false), true);
  assert.equal(readIgnoreFile("a   ").ignores("a", false), true);
});

test("the last line of an ignore file that speaks of a path decides", () => {
  const file = readIgnoreFile("# c\n*.log\r\n!keep.log\n/build/\nsub/dir\ntrailing  \n\n\\#x\n");
  assert.equal(file.ignores("a/b.log", false), true);
  assert.equal(file.ignores("keep.log", false), false);
  assert.equal(file.ignores("build", true), true);
  assert.equal(file.ignores("build", false), undefined);
  assert.equal(file.ignores("x/build", true), undefined);
  assert.equal(file.ignores("sub/dir", true), true);
  assert.equal(file.ignores("trailing", false), true);
  assert.equal(file.ignores("#x", false), true);
  assert.equal(file.ignores("c", false), undefined);
});
