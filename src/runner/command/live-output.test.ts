import assert from "node:assert/strict";
import { test } from "node:test";

import { liveOutput } from "./live-output.ts";

test("a character that comes in pieces is shown whole, on either stream", () => {
  const shown: string[] = [];
  const live = liveOutput((text) => shown.push(text));
  const [first, second] = [Buffer.from("😀"), Buffer.from("é")];
  live.add("stdout", first.subarray(0, 2));
  live.add("stderr", second.subarray(0, 1));
  live.add("stdout", first.subarray(2));
  live.add("stderr", second.subarray(1));
  live.end();
  assert.equal(shown.join(""), "😀é");
});

test("the first output is shown at once, what follows is gathered into batches", (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const shown: string[] = [];
  const live = liveOutput((text) => shown.push(text));
  for (const text of ["a", "b", "c"]) live.add("stdout", Buffer.from(text));
  assert.deepEqual(shown, ["a"]);
  context.mock.timers.tick(100);
  assert.deepEqual(shown, ["a", "bc"]);
  live.end();
});

test("a flood is cut to what a screen can take, and the gap says how much is missing", (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const shown: string[] = [];
  const live = liveOutput((text) => shown.push(text));
  live.add("stdout", Buffer.from("begin\n"));
  for (let index = 0; index < 1_000; index += 1) live.add("stdout", Buffer.alloc(10_000, "x"));
  live.add("stdout", Buffer.from("end"));
  live.end();
  const text = shown.join("");
  assert.ok(text.length < 17_000, `${text.length} characters were shown`);
  const missing = Number(/\[… (\d+) characters not shown …\]/.exec(text)?.[1]);
  assert.equal(missing, 6 + 10_000_000 + 3 - 6 - 16_384);
});

test("nothing is shown after the end", () => {
  const shown: string[] = [];
  const live = liveOutput((text) => shown.push(text));
  live.end();
  live.add("stdout", Buffer.from("late"));
  live.end();
  assert.deepEqual(shown, []);
});
