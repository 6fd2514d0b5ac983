import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test, type TestContext } from "node:test";

import fc from "../../test/support/properties.ts";

import { captureOutput } from "../../test/support/captured-output.ts";
import { tempFolder } from "../../test/support/temp-folder.ts";
import { TuttiError } from "../protocol/error.ts";
import { type BatchHandler, inputOf, runBatch } from "./batch.ts";

const file = join(tempFolder({ after }), "batch.jsonl");

/** The results of a batch, one per line. */
async function results(
  t: TestContext,
  content: string | Uint8Array,
  {
    handler = (record) => ({ input: inputOf(record, 1_000) }),
    limit = 1_000,
  }: { handler?: BatchHandler; limit?: number } = {},
): Promise<unknown[]> {
  writeFileSync(file, content);
  const captured = captureOutput(t);
  await runBatch(handler, { file, limit });
  t.mock.restoreAll();
  return captured.out
    .split("\n")
    .filter((line) => line !== "")
    .map((line): unknown => JSON.parse(line));
}

test("every record has one result with its id, in order; blank lines have none", async (t) => {
  const content = '{"id":1,"input":"a"}\n\n \t\r\n{"id":"two","input":"b"}\r\n{"input":"c"}';
  assert.deepEqual(await results(t, content), [
    { id: 1, input: "a" },
    { id: "two", input: "b" },
    { id: null, input: "c" },
  ]);
});

test("a bad line has an error with its number, and the batch goes on", async (t) => {
  const bad = Buffer.concat([Buffer.from('no json\n[1]\n{"id":3}\n'), Buffer.from([0xff, 0x0a])]);
  assert.deepEqual(await results(t, Buffer.concat([bad, Buffer.from('{"id":5,"input":"ok"}\n')])), [
    { id: null, error: "line 1 is not JSON; write one JSON object per line" },
    { id: null, error: "line 2 is not a JSON object" },
    { id: 3, error: "`input` must be a string" },
    { id: null, error: "line 4 is not UTF-8 text" },
    { id: 5, input: "ok" },
  ]);
});

test("a byte order mark at the beginning of the file is ignored", async (t) => {
  assert.deepEqual(await results(t, '\ufeff{"id":1,"input":"a"}\n'), [{ id: 1, input: "a" }]);
});

test("an input over the limit, and a line that cannot be under it, have an error", async (t) => {
  const long = JSON.stringify({ id: 1, input: "x".repeat(11) });
  const endless = JSON.stringify({ id: 2, input: "x".repeat(100_000) });
  const handler: BatchHandler = (record) => ({ input: inputOf(record, 10) });
  const content = `${long}\n${endless}\n{"id":3,"input":"y"}\n`;
  assert.deepEqual(await results(t, content, { handler, limit: 10 }), [
    { id: 1, error: "`input` is over the limit of 10 bytes; raise it with --limit" },
    { id: null, error: "line 2 is over the limit of 10 bytes; raise it with --limit" },
    { id: 3, input: "y" },
  ]);
});

test("an error of the command itself ends the batch; an error in its input does not", async (t) => {
  const throwing = (thrown: Error): BatchHandler => {
    return () => {
      throw thrown;
    };
  };
  const refused = new TuttiError("invalid_input", "no verb");
  assert.deepEqual(await results(t, '{"id":1}\n', { handler: throwing(refused) }), [{ id: 1, error: "no verb" }]);
  await assert.rejects(results(t, '{"id":1}\n', { handler: throwing(new Error("a bug")) }), /a bug/);
});

test("any text comes through as it was, however long the file is", async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.string({ unit: "binary", maxLength: 50 }), { maxLength: 30 }), async (texts) => {
      const content = texts.map((input, id) => `${JSON.stringify({ id, input })}\n`).join("");
      assert.deepEqual(
        await results(t, content),
        texts.map((input, id) => ({ id, input: input.toWellFormed() })),
      );
    }),
    { numRuns: 30 },
  );
});
