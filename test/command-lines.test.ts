import assert from "node:assert/strict";
import { test } from "node:test";

import { blankJoins, refusedJoins } from "../scripts/blank-joins.ts";

test("joining by blanks is found however the blank is written", () => {
  for (const join of ['.join(" ")', ".join(' ')", ".join(` `)", '.join(\n  " ",\n)', '.join("\\x20")', '.join("  ")']) {
    assert.equal(blankJoins(`argv${join}`), 1, join);
  }
  assert.equal(blankJoins("argv.map(String).join(String.fromCharCode(32))"), 1);
  for (const join of ['.join(", ")', '.join("")', '.join("\\n")', "path.join(folder)"]) {
    assert.equal(blankJoins(`x${join}`), 0, join);
  }
});

test("a file that joins by blanks is refused unless it is listed with what it joins, and a list that says too much is, too", () => {
  const allowed = new Map([["a.ts", { count: 1, why: "sentences" }]]);
  const once = 'x.join(" ")';
  assert.deepEqual(refusedJoins([{ file: "a.ts", text: once }], allowed), []);
  assert.match(refusedJoins([{ file: "a.ts", text: `${once}; argv${once}` }], allowed).join(), /^a\.ts joins words/);
  assert.match(refusedJoins([{ file: "a.ts", text: "" }], allowed).join(), /more joins by blanks than it has/);
  assert.match(refusedJoins([], allowed).join(), /which does not exist/);
  assert.match(refusedJoins([{ file: "b.ts", text: once }], new Map()).join(), /^b\.ts joins words/);
});
