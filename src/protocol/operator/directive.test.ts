import assert from "node:assert/strict";
import { test } from "node:test";
import { readClientFrame } from "./read-client-frame.ts";
import { spawnDirective } from "./directive.ts";

const facts = {
  req_id: "op-1-spawn-2",
  task_id: "tsk_7",
  agent: "scout",
  worker_handle: `wh-${"0f".repeat(16)}`,
  base_url: "http://127.0.0.1:4600/",
  lives: { tokenMs: 45 * 60_000, leaseMs: 90_000 },
};

test("the four lines for the worker stand together, complete and alone", () => {
  const lines = [
    "agent_id: scout",
    `worker_handle: ${facts.worker_handle}`,
    "base_url: http://127.0.0.1:4600",
    "task_id: tsk_7",
  ];
  assert.ok(spawnDirective(facts).includes(`\n\n${lines.join("\n")}\n\n`));
});

test("both acks it spells out are frames this server reads, for this request", () => {
  const frames = spawnDirective(facts)
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => readClientFrame(line));
  assert.deepEqual(frames, [
    { ok: true, frame: { type: "spawn_ack", req_id: "op-1-spawn-2", value: {}, ok: true } },
    {
      ok: true,
      frame: { type: "spawn_ack", req_id: "op-1-spawn-2", value: null, ok: false, error: "<what went wrong>" },
    },
  ]);
});

test("it says what to leave alone and never to let another agent stand in", () => {
  const text = spawnDirective(facts);
  for (const rule of [
    /Do not fetch the prompt yourself/,
    /Do not wrap, .*summarise/,
    /never let another agent stand in/,
  ]) {
    assert.match(text, rule);
  }
});

test("every credential route it names takes the handle it hands out", () => {
  const text = spawnDirective(facts);
  assert.match(text, /Bearer <worker_handle>/);
  assert.doesNotMatch(text, /token/i);
});

test("it says how long the handle is valid, and the route that renews it", () => {
  const text = spawnDirective(facts);
  for (const said of ["valid for 45 minutes", "at least every 90 seconds", "POST <base_url>/v1/worker/events"]) {
    assert.ok(text.includes(said), said);
  }
});

test("a fact that would add a line is refused", () => {
  for (const bad of ["", " ", "a\nb", "a\rb", "a\u2028b"]) {
    for (const field of ["agent", "task_id", "req_id"]) {
      assert.throws(
        () => spawnDirective({ ...facts, [field]: bad }),
        { code: "invalid_input" },
        `${field} ${JSON.stringify(bad)}`,
      );
    }
  }
});

test("a handle or address of another form is refused", () => {
  assert.throws(() => spawnDirective({ ...facts, worker_handle: "wh-abcd1234" }), { code: "invalid_input" });
  for (const base_url of ["", "127.0.0.1:4600", "ftp://host", "http://u:p@host", "http://host?x=1", "http://host/#x"]) {
    assert.throws(() => spawnDirective({ ...facts, base_url }), { code: "invalid_input" }, base_url);
  }
});

test("an address keeps its path", () => {
  assert.match(spawnDirective({ ...facts, base_url: "https://host/tutti/" }), /\nbase_url: https:\/\/host\/tutti\n/);
});
