import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";

import { testRepository } from "../../test/support/git-kit.ts";
import { tempFolder } from "../../test/support/temp-folder.ts";
import { openGit } from "../workspace/own-git.ts";
import { withScratch } from "../workspace/scratch-store.ts";
import { baseFilesOf, changedEntries, type TreeFiles, withoutWorkTree } from "./base-files.ts";

const nodeTest = 'import test from "node:test";\nimport { total } from "./total.js";\n';
const base = { "package.json": '{"scripts":{"test":"node --test"}}', "total.js": "0\n", "total.test.js": nodeTest };

test("an attempt is told apart into the check's parts, which become the base's, and the work, which can be taken back", async (t) => {
  const repository = testRepository(t, base);
  const begun = repository.git("rev-parse", "HEAD^{tree}");
  repository.commit({
    "total.js": "1\n",
    "total.test.js": `${nodeTest}// weaker\n`,
    "tax.test.js": nodeTest,
    "tax.js": "",
  });
  const attempt = repository.git("rev-parse", "HEAD^{tree}");
  const gitDir = join(repository.folder, ".git");
  const git = await openGit(gitDir);
  const folder = tempFolder(t);
  const check = { argv: ["npm", "test"], cwd: ".", setup: [], project: "." };
  await withScratch(folder, gitDir, async ({ objects }) => {
    const files: TreeFiles = { git, folder, objects, attempt, base: begun, signal: AbortSignal.timeout(240_000) };
    const entries = await changedEntries(files);
    const { changed, tree = "" } = await baseFilesOf(files, entries, check);
    assert.deepEqual([...changed].toSorted(), ["tax.test.js", "total.test.js"]);
    const show = async (name: string): Promise<string> => git.text(["cat-file", "blob", name], { objects });
    const list = async (name: string): Promise<string[]> =>
      git.list(["ls-tree", "-r", "-z", "--name-only", name], { objects });
    assert.deepEqual(await list(tree), ["package.json", "tax.js", "total.js", "total.test.js"]);
    assert.equal(await show(`${tree}:total.test.js`), nodeTest.trimEnd());
    assert.equal(await show(`${tree}:total.js`), "1");
    const without = (await withoutWorkTree(files, entries, check)) ?? "";
    assert.deepEqual(await list(without), ["package.json", "tax.test.js", "total.js", "total.test.js"]);
    assert.equal(await show(`${without}:total.js`), "0");
    assert.match(await show(`${without}:total.test.js`), /weaker/);
    const work = entries.filter(({ path }) => path === "total.js");
    assert.equal(await withoutWorkTree(files, work, check), undefined);
  });
});
