// The repository of the tour: a small shopping cart in a temporary folder, with tests that fail.
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";

import { TuttiError } from "../../protocol/error.ts";
import { runHere } from "../run-program-here.ts";

const prefix = "tutti-tour-";

const files: Readonly<Record<string, string>> = {
  "package.json": `{ "name": "cart", "private": true, "type": "module", "scripts": { "test": "node --test" } }
`,
  "README.md": `# cart

Adds up what is in a shopping cart.
`,
  "lib/total.js": `/** What all items of a cart cost, in cents. */
export function total(items) {
  let sum = 0;
  for (const { price } of items) sum += price;
  return sum;
}
`,
  "test/total.test.js": `import assert from "node:assert/strict";
import { test } from "node:test";

import { total } from "../lib/total.js";

test("an empty cart costs nothing", () => {
  assert.equal(total([]), 0);
});

test("the quantity of an item counts", () => {
  const cart = [
    { price: 250, quantity: 3 },
    { price: 100, quantity: 1 },
  ];
  assert.equal(total(cart), 850);
});
`,
  "test/discount.test.js": `import assert from "node:assert/strict";
import { test } from "node:test";

test("ten percent off", async () => {
  const { discounted } = await import("../lib/discount.js");
  assert.equal(discounted(1000, 10), 900);
});
`,
};

/** Returns its folder. Throws `not_found` when there is no git. */
export async function makeTourRepository(): Promise<string> {
  await requireGit();
  const folder = await realpath(await mkdtemp(join(tmpdir(), prefix)));
  for (const [name, text] of Object.entries(files)) {
    const path = join(folder, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }
  await git(folder, "init", "--quiet", "--template=", "--initial-branch=main");
  await git(folder, "add", "--all");
  await git(folder, "commit", "--quiet", "--message", "A shopping cart whose tests fail");
  return folder;
}

async function requireGit(): Promise<void> {
  try {
    await runHere(["git", "--version"], tmpdir());
  } catch (cause) {
    throw new TuttiError("not_found", "the tour needs git, which is not on PATH: install it, and start again", {
      cause,
    });
  }
}

/** Nothing that the person has set up for git is needed, and none of it can get in the way. */
const settings = [
  ["user.name", "Tutti tour"],
  ["user.email", "tour@tutti.invalid"],
  ["commit.gpgSign", "false"],
  ["core.hooksPath", "/dev/null"],
  ["core.autocrlf", "false"],
].flatMap(([name, value]) => ["-c", `${name}=${value}`]);

async function git(folder: string, ...args: readonly string[]): Promise<void> {
  const { code, err } = await runHere(["git", ...settings, ...args], folder);
  if (code !== 0) throw new TuttiError("io", `git ${args[0] ?? ""} failed in ${folder}: ${err.trim()}`);
}

/** Whether a tour made the folder: it lies directly in the folder for temporary files and has a name of a tour. */
export async function isTourRepository(folder: string): Promise<boolean> {
  return dirname(folder) === (await realpath(tmpdir())) && basename(folder).startsWith(prefix);
}

export async function removeTourRepository(folder: string): Promise<void> {
  if (await isTourRepository(folder)) await rm(folder, { recursive: true, force: true, maxRetries: 3 });
}
