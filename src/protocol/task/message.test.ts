import assert from "node:assert/strict";
import { test } from "node:test";
import {
  completeMessage,
  isBlankMessage,
  keepParts,
  Message,
  messageText,
  Part,
  savedMessage,
  userMessage,
} from "./message.ts";

const partsOnTheWire = [
  { part_type: "text", data: "hi" },
  { part_type: "tool_call", data: { tool_call_id: "c1", tool_name: "read", input: { path: "a" } } },
  {
    part_type: "tool_result",
    data: {
      tool_call_id: "c1",
      tool_name: "read",
      parts: [
        { part_type: "data", data: null },
        { part_type: "text", data: "x" },
      ],
      parts_metadata: { "0": { save: false, developer: true } },
    },
  },
  { part_type: "image", data: { type: "bytes", bytes: "AAAA", mime_type: "image/png", name: "a.png" } },
  {
    part_type: "file",
    data: { type: "url", url: "https://example.org/a.pdf", mime_type: "application/pdf", name: null },
  },
  { part_type: "data", data: [1, { two: [3] }] },
  {
    part_type: "artifact",
    data: {
      file_id: "f1",
      relative_path: "out/a.json",
      size: 12,
      content_type: "application/json",
      original_filename: null,
      created_at: "2026-01-02T03:04:05.678901234Z",
      updated_at: "2026-01-02T03:04:05+02:00",
      checksum: null,
      stats: { type: "json", is_array: true },
      preview: "[",
    },
  },
  { part_type: "resource_link", data: { uri: "file:///a", mime_type: "text/plain", text: "t", meta: { a: 1 } } },
];

test("every kind of part keeps its wire form", () => {
  for (const part of partsOnTheWire) assert.deepEqual(Part.parse(part), part);
});

test("a message without id, name and time parses, and name is then written as null", () => {
  const parsed = Message.parse({ role: "user", parts: [{ part_type: "text", data: "hi" }] });
  assert.equal(JSON.stringify(parsed), '{"name":null,"role":"user","parts":[{"part_type":"text","data":"hi"}]}');
});

test("a full message keeps its agent and its metadata", () => {
  const wire = {
    id: "m1",
    name: "worker",
    role: "assistant",
    parts: partsOnTheWire,
    created_at: 1712345678901,
    agent_id: "coder",
    parts_metadata: { "0": { save: true, developer: true } },
  };
  assert.deepEqual(Message.parse(wire), wire);
});

test("part metadata defaults to saved and shown, and its key must be an index", () => {
  const message = { role: "user", parts: [] };
  assert.deepEqual(Message.parse({ ...message, parts_metadata: { "3": {} } }).parts_metadata, {
    "3": { save: true, developer: false },
  });
  for (const key of ["x", "-1", "01", "1.5"]) {
    assert.equal(Message.safeParse({ ...message, parts_metadata: { [key]: {} } }).success, false, key);
  }
});

test("a tool call refuses fields it does not know, and one without input", () => {
  const call = { tool_call_id: "c1", tool_name: "read" };
  assert.equal(Part.safeParse({ part_type: "tool_call", data: { ...call, input: {}, args: {} } }).success, false);
  assert.equal(Part.safeParse({ part_type: "tool_call", data: call }).success, false);
});

test("an unknown part type or role is refused", () => {
  assert.equal(Part.safeParse({ part_type: "video", data: "x" }).success, false);
  assert.equal(Message.safeParse({ role: "agent", parts: [] }).success, false);
});

test("completing a message fills what is absent and keeps what is there", () => {
  const fill = { id: "new", now: 5 };
  assert.deepEqual(completeMessage(userMessage("hi"), fill), { ...userMessage("hi"), id: "new", created_at: 5 });
  const there = { ...userMessage("hi"), id: "", created_at: 0 };
  assert.deepEqual(completeMessage(there, fill), there);
});

test("the text of a message is its text parts with a blank line between", () => {
  const parts = [
    { part_type: "text" as const, data: "a" },
    { part_type: "data" as const, data: 1 },
    { part_type: "text" as const, data: "b" },
  ];
  assert.equal(messageText({ parts }), "a\n\nb");
  assert.equal(messageText({ parts: [] }), "");
});

test("a message is blank when it has no part or only blank text", () => {
  assert.equal(isBlankMessage({ parts: [] }), true);
  assert.equal(isBlankMessage(userMessage(" \n\t")), true);
  assert.equal(isBlankMessage(userMessage("x")), false);
  assert.equal(isBlankMessage({ parts: [{ part_type: "data", data: null }] }), false);
});

test("metadata follows its part when others are dropped", () => {
  const message: Message = {
    ...userMessage("a"),
    parts: ["a", "b", "c"].map((data) => ({ part_type: "text", data })),
    parts_metadata: { "0": { save: true, developer: false }, "2": { save: true, developer: true } },
  };
  const kept = keepParts(message, (_, index) => index > 0);
  assert.equal(messageText(kept), "b\n\nc");
  assert.deepEqual(kept.parts_metadata, { "1": { save: true, developer: true } });
});

test("what is kept of a message leaves out unsaved parts, inside tool results too", () => {
  const message = Message.parse({
    role: "tool",
    parts: [{ part_type: "text", data: "secret" }, partsOnTheWire[2]],
    parts_metadata: { "0": { save: false } },
  });
  assert.deepEqual(savedMessage(message).parts, [
    {
      part_type: "tool_result",
      data: { tool_call_id: "c1", tool_name: "read", parts: [{ part_type: "text", data: "x" }], parts_metadata: {} },
    },
  ]);
});
