// What a page tells people to paste into a shell does not run what stands between backticks in a text.
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { examples } from "../../src/cli/examples.ts";
import { runBackticks } from "./shell-quotes.ts";

const root = join(import.meta.dirname, "..", "..");

const block = (text: string, language = "sh"): string => `Text\n\n\`\`\`${language}\n${text}\n\`\`\`\n`;

test("backticks inside of double quotes are found, also over two lines and after a prompt", () => {
  const given = 'tutti run "x" --accept "`npm test` succeeds"';
  assert.deepEqual(runBackticks(block(given)), [given]);
  assert.deepEqual(runBackticks(block(given, "")), [given]);
  assert.deepEqual(runBackticks(block(`$ ${given}\nDone`)), [`$ ${given}`]);
  assert.equal(runBackticks(block('tutti run "x" \\\n  --accept "`npm test` succeeds"')).length, 1);
});

test("backticks that no shell runs, in output and in other languages are not", () => {
  for (const text of [
    "tutti run 'x' --accept '`npm test` succeeds'",
    'tutti run "\\`npm test\\` succeeds"',
    'tutti run "it\'s" --accept \'"`npm test`"\'',
    '$ tutti report\nproof: "`npm test`" passed',
    'tutti run "x" # says "`npm test`"',
  ]) {
    assert.deepEqual(runBackticks(block(text)), [], text);
  }
  assert.deepEqual(runBackticks(block('const text = "`x`";', "ts")), []);
});

test("no page and no example of the help has one", () => {
  const names = globSync(["*.md", "docs/**/*.md", "examples/**/*.md"], { cwd: root });
  assert.ok(names.includes("README.md") && names.length > 10, names.join(" "));
  for (const name of names) assert.deepEqual(runBackticks(readFileSync(join(root, name), "utf8")), [], name);
  for (const { run } of examples) assert.deepEqual(runBackticks(block(run)), [], run);
});
