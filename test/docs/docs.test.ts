// Every command in the README and in docs/ is run from a fresh folder, in the order of its page, and prints what the page shows.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, test } from "node:test";

import { type DocBlock, docBlocks } from "./doc-blocks.ts";
import { postgresPrograms } from "../support/postgres-server.ts";
import { sharedServer } from "../support/stores.ts";
import { runPage } from "./doc-page.ts";

const root = join(import.meta.dirname, "..", "..");
const names = [
  "README.md",
  ...readdirSync(join(root, "docs"))
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`),
  "examples/README.md",
];
const pages = names.map((name) => {
  const text = readFileSync(join(root, name), "utf8");
  return { name, text, blocks: docBlocks(text) };
});

if (postgresPrograms() !== undefined) {
  process.env["DOC_DATABASE"] = sharedServer().url;
  after(() => sharedServer().stop());
}

/** Programs that the pages say they need, and that a machine may not have. */
const programs = ["curl", "jq"].filter((name) => spawnSync(name, ["--version"]).error !== undefined);

function missingProgram(blocks: readonly DocBlock[]): string | false {
  const commands = blocks.flatMap((block) => (block.kind === "commands" ? block.commands : []));
  const missing = programs.find((name) => commands.some(({ command }) => new RegExp(`\\b${name} `).test(command)));
  return missing === undefined ? false : `${missing} is not installed`;
}

describe("the commands of a page do what the page shows", { concurrency: 3 }, () => {
  for (const { name, blocks } of pages) {
    if (!blocks.some(({ kind }) => kind === "commands")) continue;
    test(name, { skip: missingProgram(blocks) }, (t) => runPage(t, blocks));
  }
});

/** A block that cannot be run says why in a comment before it. */
const mostNotRun = 8;

test("few blocks are not run, and each says why", (t) => {
  const notRun = pages.flatMap(({ name, blocks }) =>
    blocks.flatMap((block) => (block.kind === "not run" ? [`${name}:${block.line}: ${block.reason}`] : [])),
  );
  for (const each of notRun) t.diagnostic(each);
  assert.ok(notRun.length <= mostNotRun, `${notRun.length} blocks are not run:\n${notRun.join("\n")}`);
});

test("no page tells people to run a package that somebody else may own", () => {
  for (const { name, text } of pages) {
    const told = [...text.matchAll(/^.*\bnpx\b.*$/gm)].map(([line]) => line).filter((line) => !/Do not/.test(line));
    assert.deepEqual(told, [], name);
  }
});
