import assert from "node:assert/strict";
import { test } from "node:test";

import { recallByWords } from "./recall-by-words.ts";

const texts = [
  { id: "gol_1", at: 1, text: "Fix the empty basket" },
  { id: "gol_2", at: 2, text: "Translate the basket page" },
  { id: "gol_3", at: 3, text: "Add a search field" },
];
const ids = (words: string, from = texts): string[] => recallByWords(words, from).map(({ id }) => id);

test("earlier goals are found by their words, the newest first", () => {
  assert.deepEqual(ids("BASKET"), ["gol_2", "gol_1"]);
  assert.deepEqual(ids("empty basket"), ["gol_1"]);
  assert.deepEqual(ids("basket search"), ["gol_3", "gol_2", "gol_1"]);
  assert.deepEqual(ids("a it"), []);
  assert.deepEqual(ids("elephant"), []);
});

test("what is found is capped in number and in length", () => {
  const many = Array.from({ length: 50 }, (_, at) => ({ id: `gol_${at}`, at, text: `basket ${"x".repeat(5_000)}` }));
  const found = recallByWords("basket", many);
  assert.deepEqual([found.length, found[0]?.id], [6, "gol_49"]);
  assert.ok((found[0]?.text.length ?? 0) < 700);
});
