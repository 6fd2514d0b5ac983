import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "../../test/support/properties.ts";

import type { Message, Part } from "../protocol/task/message.ts";
import { pageOf, preview, previewLimit, previewMessage, resultText } from "./preview.ts";

function result(...parts: Part[]): Message {
  const data = { tool_call_id: "c1", tool_name: "t", parts };
  return { name: null, role: "tool", parts: [{ part_type: "tool_result", data }] };
}

test("a short result is shown as it is, and its message is the same object", () => {
  const message = result({ part_type: "text", data: "x".repeat(previewLimit) });
  assert.equal(previewMessage(message), message);
  assert.equal(preview("short", "c1"), "short");
});

test("a large one shows its beginning, its end and how to read on", () => {
  const text = `begin ${"-".repeat(100_000)} end`;
  const shown = preview(text, 'a"b');
  assert.ok(shown.length < previewLimit);
  assert.match(
    shown,
    /^begin -+\n\[… 84010 of 100010 characters are not shown here; read_result \{"id":"a\\"b","offset":12000\} shows them …\]\n-+ end$/,
  );
  const message = previewMessage(result({ part_type: "data", data: { text } }, { part_type: "text", data: "tail" }));
  const [part] = message.parts;
  assert.ok(part?.part_type === "tool_result" && part.data.parts.length === 1 && part.data.tool_call_id === "c1");
  assert.match(resultText(part.data), /^\{"text":"begin[^]*tail$/);
});

test("the pages of a text are the text, none of them cut in a character, none in need of a preview", () => {
  const texts = fc.string({ minLength: 1, maxLength: 60, unit: "binary" });
  fc.assert(
    fc.property(texts, fc.integer({ min: 1, max: 5_000 }), (piece, times) => {
      const text = piece.repeat(times);
      let whole = "";
      for (let pages = 0; whole.length < text.length && pages < 100; pages += 1) {
        const page = pageOf(text, whole.length);
        assert.ok(page.ok && page.text.length < previewLimit - 1_000);
        assert.equal(page.text.isWellFormed(), piece.isWellFormed() || page.text.isWellFormed());
        whole += page.text;
      }
      assert.equal(whole, text);
      assert.deepEqual(pageOf(text, text.length), { ok: false, total: text.length });
    }),
    { numRuns: 100 },
  );
});
