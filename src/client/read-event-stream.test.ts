import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "../../test/support/properties.ts";

import { TuttiError } from "../protocol/error.ts";
import { eventStreamReader, readEventStream, type SentEvent } from "./read-event-stream.ts";

const readAll = (...chunks: string[]): SentEvent[] => {
  const reader = eventStreamReader();
  return chunks.flatMap((chunk) => reader.push(chunk));
};

const word = fc.string({ unit: "binary", maxLength: 12 }).map((text) => text.replaceAll(/[\r\n\0]/g, "·"));
const sent = fc.record({
  event: word.map((text) => (text === "" ? "message" : text)),
  /** Of several lines, also empty ones; at least one character, or the stream has nothing to tell. */
  data: fc.array(word, { minLength: 1, maxLength: 4 }).map((lines) => `x${lines.join("\n")}`),
  id: word,
  noise: fc.array(fc.constantFrom(":", ": a comment", "retry: 10", "colour: blue", "dat: a"), { maxLength: 3 }),
});
const ending = fc.constantFrom("\n", "\r", "\r\n");

/** As a server may write it; a colon and one space before every value, so that values keep their own first space. */
function written(events: readonly (SentEvent & { noise: readonly string[] })[], end: string): string {
  return events
    .flatMap(({ event, data, id, noise }) => [
      ...noise,
      `id: ${id}`,
      ...(event === "message" ? [] : [`event: ${event}`]),
      ...data.split("\n").map((line) => `data: ${line}`),
      "",
    ])
    .map((line) => `${line}${end}`)
    .join("");
}

test("the events are the same wherever the bytes are cut into chunks, even inside a character", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(sent, { maxLength: 5 }),
      ending,
      fc.record({ mark: fc.boolean(), cuts: fc.array(fc.nat(400), { maxLength: 12 }) }),
      async (events, end, { mark, cuts }) => {
        const bytes = new TextEncoder().encode(`${mark ? "\ufeff" : ""}${written(events, end)}`);
        const places = [...new Set([0, ...cuts.filter((cut) => cut < bytes.length), bytes.length])].toSorted(
          (one, other) => one - other,
        );
        const chunks = places.slice(1).map((to, index) => bytes.slice(places[index], to));
        const body = new ReadableStream<Uint8Array>({
          start(controller) {
            for (const chunk of chunks) controller.enqueue(chunk);
            controller.close();
          },
        });
        const read: SentEvent[] = [];
        for await (const each of readEventStream(body, { silenceMs: 5_000, onBytes: () => undefined })) read.push(each);
        // UTF-8 has no lone surrogates: they arrive as what stands for them.
        const whole = (text: string): string => text.toWellFormed();
        assert.deepEqual(
          read,
          events.map(({ event, data, id }) => ({ event: whole(event), data: whole(data), id: whole(id) })),
        );
      },
    ),
    { numRuns: 300 },
  );
});

test("a carriage return at the end of a chunk and a line feed in the next are one line end", () => {
  assert.deepEqual(readAll("data: a\r", "\ndata: b\r", "\n\r", "\n"), [{ event: "message", data: "a\nb", id: "" }]);
});

test("reads the examples of the standard: no space after the colon, no colon at all, an id that lasts", () => {
  assert.deepEqual(
    readAll("data:test\n\ndata: test\n\n").map(({ data }) => data),
    ["test", "test"],
  );
  assert.deepEqual(
    readAll("data\n\ndata\ndata\n\ndata:").map(({ data }) => data),
    ["", "\n"],
  );
  assert.deepEqual(
    readAll("id: 7\ndata: a\n\ndata: b\n\nid\ndata: c\n\n").map(({ id }) => id),
    ["7", "7", ""],
  );
  assert.deepEqual(readAll("event: live\n\ndata: a\n\n"), [{ event: "message", data: "a", id: "" }]);
});

test("an event that the end of the stream cuts off is dropped", () => {
  assert.deepEqual(readAll("data: whole\n\ndata: half\n"), [{ event: "message", data: "whole", id: "" }]);
});

test("a line that never ends is an error before it fills the memory", () => {
  const reader = eventStreamReader();
  const chunk = "x".repeat(16 * 1024 * 1024);
  assert.throws(
    () => {
      for (let index = 0; index < 6; index += 1) reader.push(chunk);
    },
    (thrown) => thrown instanceof TuttiError && thrown.code === "too_large",
  );
});

test("a stream that falls silent fails, and its connection is closed", async () => {
  let canceled = false;
  const body = new ReadableStream<Uint8Array>({
    cancel() {
      canceled = true;
    },
  });
  await assert.rejects(
    readEventStream(body, { silenceMs: 20, onBytes: () => undefined }).next(),
    (thrown) => thrown instanceof TuttiError && thrown.code === "unreachable",
  );
  assert.ok(canceled);
});
