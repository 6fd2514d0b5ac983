import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { readAnsi } from "./read-ansi.ts";

const esc = "\u001b";

test("colours and weights hold until they are reset", () => {
  assert.deepEqual(readAnsi(`a${esc}[31;1mb${esc}[22mc${esc}[0md`), [
    { text: "a" },
    { text: "b", fg: 1, bold: true },
    { text: "c", fg: 1 },
    { text: "d" },
  ]);
});

test("colours of larger palettes come as the nearest of the theme", () => {
  assert.deepEqual(readAnsi(`${esc}[38;5;196mred${esc}[38;2;0;120;0mgreen`), [
    { text: "red", fg: 9 },
    { text: "green", fg: 2 },
  ]);
});

test("a title, a link, a cursor movement and a cleared screen show nothing", () => {
  const link = `${esc}]8;;https://evil.example${esc}\\here${esc}]8;;${esc}\\`;
  const text = readAnsi(`${esc}]0;title\u0007${link}${esc}[2J${esc}[10;10H${esc}[?25l!`);
  assert.equal(text.map((piece) => piece.text).join(""), "here!");
});

test("a sequence without an end keeps its text", () => {
  assert.deepEqual(readAnsi(`${esc}]0;never ends`), [{ text: `${esc}]0;never ends` }]);
});

test("text without escapes is one piece, and no text is lost from text that has none", () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const plain = text.replaceAll(esc, "");
      assert.equal(
        readAnsi(plain)
          .map((piece) => piece.text)
          .join(""),
        plain,
      );
    }),
  );
});

test("a hostile text of half a million escapes is read in linear time", () => {
  const started = performance.now();
  readAnsi(`${esc}[`.repeat(250_000) + `${esc}]`.repeat(100));
  assert.ok(performance.now() - started < 5_000);
});
