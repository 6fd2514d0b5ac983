import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "../../../test/support/properties.ts";

import { actionAt, scanFrom, scanRest, startScan } from "./find-actions.ts";

function spans(text: string): string[] {
  const scan = startScan(text);
  assert.ok(scanRest(scan, Infinity));
  return Array.from({ length: text.length }, (_, at) => actionAt(scan, at)).flatMap((one) =>
    one ? [text.slice(one.start, one.end)] : [],
  );
}

const soup = fc
  .array(
    fc.constantFrom(
      ...'{}[]":, '.split(""),
      '\\"',
      "\n",
      '"action":"respond"',
      '{"action":"do_work"}',
      '{"a":',
      "1",
      "x",
    ),
    {
      maxLength: 80,
    },
  )
  .map((parts) => parts.join(""));

test("finds an action object from whichever brace it opens, also where every other reading sees a string", () => {
  const inside = '{"} x ":1,"action":"do_work"}';
  assert.deepEqual(spans(`{"note":"${inside}`), [inside]);
});

test("finds exactly the action objects that reading from every brace on its own would find", () => {
  fc.assert(
    fc.property(soup, (text) => {
      assert.deepEqual(spans(text), everyAction(text));
    }),
    { numRuns: 5000 },
  );
});

test("reads no text more than twice, however it is tangled", () => {
  fc.assert(
    fc.property(soup, fc.integer({ min: 1, max: 20 }), (unit, times) => {
      const text = unit.repeat(times);
      const scan = startScan(text);
      scanRest(scan, Infinity);
      assert.ok(scan.scanned <= 2 * text.length, `${scan.scanned} of ${text.length}`);
    }),
    { numRuns: 3000 },
  );
});

test("stops at its limit and says so", () => {
  const text = '{"a":{"b":{"action":"do_work"}}}';
  const scan = startScan(text);
  assert.equal(scanRest(scan, 12), false);
  assert.equal(scan.scanned, 12);
  assert.deepEqual(scan.ends, []);
});

test("an object read as part of another is known by its own brace", () => {
  const scan = startScan('{"a":{"action":"do_work"}}');
  scanFrom(scan, 0);
  assert.equal(actionAt(scan, 5)?.name, "do_work");
  assert.equal(actionAt(scan, 0), undefined);
});

/** Whole objects that JSON.parse takes from any brace, at the cost of trying every end; keys said twice left alone. */
function everyAction(text: string): string[] {
  const found: string[] = [];
  for (let start = text.indexOf("{"); start !== -1; start = text.indexOf("{", start + 1)) {
    for (let end = text.indexOf("}", start); end !== -1; end = text.indexOf("}", end + 1)) {
      const source = text.slice(start, end + 1);
      const value = parsed(source);
      if (value === undefined) continue;
      if (Object.hasOwn(value, "action") && ["respond", "do_work"].includes(String(value["action"])))
        found.push(source);
      break;
    }
  }
  return found;
}

function parsed(source: string): Record<string, unknown> | undefined {
  try {
    const value: Record<string, unknown> = JSON.parse(source);
    return value;
  } catch {
    return undefined;
  }
}
