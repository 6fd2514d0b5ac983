// Holds the tables of SECURITY.md to the tree: each threat stands there once, and its tests exist.
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const project = join(import.meta.dirname, "..");
const lines = readFileSync(join(project, "SECURITY.md"), "utf8").split("\n");

interface Row {
  readonly threat: string;
  readonly tests: readonly string[];
}

/** The rows below the two lines with which a table begins. */
const rows: readonly Row[] = lines.flatMap((line, index) => {
  if (!line.startsWith("|") || !lines[index - 1]?.startsWith("|") || line.startsWith("| -")) return [];
  const cells = line.split("|").map((cell) => cell.trim());
  const tests = [...(cells.at(-2) ?? "").matchAll(/`([^`]+\.test\.ts)`/g)].map(([, file = ""]) => file);
  return [{ threat: cells[1] ?? "", tests }];
});

test("each threat has one row", () => {
  const twice = [...Map.groupBy(rows, ({ threat }) => threat)].filter(([, same]) => same.length > 1);
  assert.deepEqual(
    twice.map(([threat]) => threat),
    [],
  );
  assert.ok(rows.length > 50, `only ${rows.length} rows were found`);
  assert.ok(!rows.some(({ threat }) => threat === "threat"), "a table begins in the middle of another one");
});

test("each row names a test, and each test exists", () => {
  for (const { threat, tests } of rows) {
    assert.notEqual(tests.length, 0, `no test is named for: ${threat}`);
    for (const file of tests) assert.notEqual(globSync(file, { cwd: project }).length, 0, `${file} for: ${threat}`);
  }
});

test("each hostile test has a row", () => {
  const named = new Set(rows.flatMap(({ tests }) => tests));
  const hostile = globSync("test/hostile/*.test.ts", { cwd: project });
  assert.deepEqual(
    hostile.filter((file) => !named.has(file)),
    [],
  );
});
