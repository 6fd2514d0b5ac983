import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { describeIssue, describeIssues, issuesOf, readLenient } from "./lenient-read.ts";

const Shape = z.object({
  name: z.string(),
  note: z.string().optional(),
  ended: z.int().nullable().default(null),
  items: z.array(z.object({ id: z.int() })).default([]),
  tools: z.strictObject({ allow: z.array(z.string()) }).optional(),
});

test("an unknown field is dropped with a warning that names its path", () => {
  assert.deepEqual(readLenient(Shape, { name: "a", color: 1, items: [{ id: 1, size: 2 }] }), {
    ok: true,
    value: { name: "a", ended: null, items: [{ id: 1 }] },
    warnings: [
      { path: "color", message: "is not a known field and was ignored" },
      { path: "items[0].size", message: "is not a known field and was ignored" },
    ],
  });
});

test("an unknown field of a strict object is refused", () => {
  const read = readLenient(Shape, { name: "a", tools: { allow: [], alow: ["rm"] } });
  assert.deepEqual(!read.ok && read.issues.map(({ path }) => path), ["tools"]);
});

test("null means absent only where a field may be absent", () => {
  assert.equal(readLenient(Shape, { name: "a", note: null, ended: null }).ok, true);
  assert.equal(readLenient(Shape, { name: null }).ok, false);
});

test("a value nested without end is refused, not followed", () => {
  const Nested = z.object({
    get inner() {
      return z.array(Nested).optional();
    },
  });
  let value: unknown = {};
  for (let depth = 0; depth < 5000; depth += 1) value = { inner: [value] };
  const read = readLenient(Nested, value);
  assert.match(read.ok ? "" : describeIssues(read.issues), /^inner\[0\]\.inner\[0\].*…: is nested too deeply$/);
});

test("a field that is not there is called missing, and one of another kind is not", () => {
  const read = readLenient(z.object({ content: z.unknown().nonoptional(), items: z.array(Shape) }), { items: [{}, 1] });
  assert.ok(!read.ok);
  assert.deepEqual(
    read.issues.map(({ path, message }) => [path, message === "is missing"]),
    [
      ["content", true],
      ["items[0].name", true],
      ["items[1]", false],
    ],
  );
});

test("a field that is not there is called missing also where only the schema's words are known", () => {
  const schema = z.object({ content: z.unknown().nonoptional(), name: z.string(), size: z.int() });
  const read = schema.safeParse({ size: "large" });
  assert.ok(!read.success);
  assert.match(describeIssues(issuesOf(read.error)), /^content: is missing; name: is missing; size: (?!is missing)/);
});

test("an issue is told with its path, one about the whole value without", () => {
  assert.equal(describeIssue({ path: "items[0].id", message: "is missing" }), "items[0].id: is missing");
  assert.equal(describeIssue({ path: "", message: "is not an object" }), "is not an object");
  const parsed = Shape.safeParse({ name: 1, items: [{ id: "x" }] });
  assert.match(parsed.success ? "" : describeIssues(issuesOf(parsed.error)), /^name: [^;]+; items\[0\]\.id: [^;]+$/);
});
