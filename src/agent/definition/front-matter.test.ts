import assert from "node:assert/strict";
import { test } from "node:test";

import { readFrontMatter, splitFrontMatter } from "./front-matter.ts";

test("the front matter ends at the first closing fence, and everything below is the body", () => {
  assert.deepEqual(splitFrontMatter("---\nname: a\n---\nbody\n---\n"), {
    kind: "whole",
    yaml: "name: a\n",
    body: "body\n---\n",
    bodyLine: 4,
  });
  assert.deepEqual(splitFrontMatter("\uFEFF---\r\n---  \r\nb"), { kind: "whole", yaml: "", body: "b", bodyLine: 3 });
  assert.deepEqual(splitFrontMatter("# Title\n---\n"), { kind: "none" });
  assert.deepEqual(splitFrontMatter("---\nname: a\n"), { kind: "open" });
});

test("every field knows its line in the file, and an absent one that of the field around it", () => {
  const reading = readFrontMatter("name: a\nbudget:\n  tokens: 1\n");
  assert.ok(reading.ok);
  const { fields, lineOf } = reading.front;
  assert.deepEqual(fields, { name: "a", budget: { tokens: 1 } });
  assert.deepEqual([lineOf(["name"]), lineOf(["budget"]), lineOf(["budget", "tokens"])], [2, 3, 4]);
  assert.equal(lineOf(["budget", "money"]), 4);
});

test("a plain value with a colon is read as text with a warning, and other mistakes are reported with their line", () => {
  const quoted = readFrontMatter("name: a\ndescription: Use it: often\n");
  assert.ok(quoted.ok);
  assert.equal(quoted.front.fields["description"], "Use it: often");
  assert.equal(quoted.front.warnings[0]?.line, 3);
  const broken = readFrontMatter("name: a\ntools: [\n");
  assert.ok(!broken.ok && broken.line >= 3);
});

test("aliases and anything but fields are refused", () => {
  const alias = readFrontMatter("a: &x 1\nb: *x\n");
  assert.deepEqual(alias, { ok: false, line: 3, message: "has an alias (*); write it out" });
  assert.ok(!readFrontMatter("- a\n- b\n").ok);
});
