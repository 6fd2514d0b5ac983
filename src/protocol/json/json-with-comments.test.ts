import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "../../../test/support/properties.ts";
import { withoutComments } from "./json-with-comments.ts";

test("comments and trailing commas go, and what is in a text stays", () => {
  const text = `// begin
{ "a": "// no comment, \\" /* neither */", /* one
  over two lines */ "b": [1, 2, /* last */ ],
  "c": "x,]", // end
}`;
  assert.deepEqual(JSON.parse(withoutComments(text)), { a: '// no comment, " /* neither */', b: [1, 2], c: "x,]" });
  assert.equal(withoutComments(text).length, text.length);
  assert.equal(withoutComments(text).split("\n").length, text.split("\n").length);
});

test("plain JSON stays as it is", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(0, 2), (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      assert.equal(withoutComments(text), text);
    }),
  );
});

test("a comment that never ends, and many slashes and commas, take linear time", () => {
  const started = performance.now();
  for (const piece of ["/*", ",", ", ", "//", '"', "/* */", ",/* */"]) withoutComments(piece.repeat(20_000));
  assert.ok(performance.now() - started < 5_000);
});
