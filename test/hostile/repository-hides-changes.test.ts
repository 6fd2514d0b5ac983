// A repository says by attributes that its texts are no texts, so that a change of them is shown to nobody who agrees to it.

import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { protectedChanges, protectedPatch, sessionPatch, sessionResult, workSoFar } from "../../src/workspace/index.ts";
import type { TestRepository } from "../support/git-kit.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { workspaceKit } from "../support/workspace-kit.ts";

interface Way {
  readonly files?: Readonly<Record<string, string>>;
  readonly make?: (repository: TestRepository, evil: string) => void;
  /** What the list of files has as the number of added lines; git does not count those of a binary file. */
  readonly added?: null;
}

const ways: Readonly<Record<string, Way>> = {
  "attributes of a clone": { files: { ".gitattributes": "* -diff\n" } },
  "attributes of a folder": { files: { ".vscode/.gitattributes": "* binary\n", ".gitattributes": "a.txt -diff\n" } },
  "a driver that is a program": {
    files: { ".gitattributes": "* diff=evil\n" },
    make: ({ git }, evil) => {
      for (const name of ["command", "textconv"]) git("config", `diff.evil.${name}`, evil);
      git("config", "diff.evil.binary", "true");
      git("config", "diff.external", evil);
      git("config", "core.pager", evil);
    },
  },
  "attributes of the git folder": {
    make: ({ write }) => write(".git/info/attributes", "[attr]x -diff\n* x\n"),
    added: null,
  },
  "attributes beside the git folder's files": {
    make: ({ write }) => {
      write(".git/.gitattributes", "* -diff\n");
      write(".git/.vscode/.gitattributes", "* -diff\n");
    },
  },
  "attributes of a tree": {
    files: { ".gitattributes": "* -diff\n" },
    make: ({ git }) => void git("config", "attr.tree", "HEAD"),
  },
  "a size from which files are not compared": { make: ({ git }) => void git("config", "core.bigFileThreshold", "1") },
};

for (const [how, { files = {}, make: prepare, added = 1 }] of Object.entries(ways)) {
  test(`a change is shown in spite of ${how}`, async (t) => {
    const evil = join(tempFolder(t), "evil");
    writeFileSync(evil, `#!/bin/sh\ntouch ${evil}.ran\necho same\n`, { mode: 0o755 });
    const { repository, store, make } = workspaceKit(t, { "a.txt": "a\n", ...files });
    prepare?.(repository, evil);
    const { workspace, inside } = await make();
    const task = '{"command": "run me"}\n';
    inside.write("a.txt", "new text\n");
    inside.write(".vscode/tasks.json", task);
    const now = await workSoFar(workspace, { maxBytes: 100_000, confine: undefined });
    assert.match(String(now?.patch), /^\+new text$/m);
    inside.commit({});
    assert.match(String(await sessionPatch(workspace)), /^\+new text$/m);
    const listed = (await sessionResult(workspace))?.files.map((file) => [file.path, file.added]);
    assert.deepEqual(listed?.toSorted(), [
      [".vscode/tasks.json", added],
      ["a.txt", added],
    ]);
    const changes = await protectedChanges(store, workspace, { isProtected: (path) => path.startsWith(".vscode/") });
    assert.ok(changes !== undefined);
    assert.ok((await protectedPatch(workspace, changes, { maxBytes: 100_000 }))?.includes(`+${task}`));
    assert.equal(existsSync(`${evil}.ran`), false, "the driver was started");
  });
}

test("a file that is binary still is, and its patch applies", async (t) => {
  const { repository, make } = workspaceKit(t, { "a.txt": "a\n", ".gitattributes": "*.png text diff\n" });
  const { workspace, inside } = await make();
  writeFileSync(join(inside.folder, "a.png"), Buffer.from([0, 1, 2, 255, 10, 0]));
  inside.commit({});
  assert.equal((await sessionResult(workspace))?.files[0]?.added, null);
  const patch = join(tempFolder(t), "patch");
  writeFileSync(patch, await sessionPatch(workspace));
  repository.git("apply", "--check", patch);
});
