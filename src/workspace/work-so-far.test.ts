import assert from "node:assert/strict";
import { test } from "node:test";

import { personsThings } from "../../test/support/git-kit.ts";
import { workspaceKit } from "../../test/support/workspace-kit.ts";
import { workSoFar } from "./work-so-far.ts";

const look = { maxBytes: 1_000_000, confine: undefined };

test("the work of a session is seen as its files are, committed or not, and nothing is touched by looking", async (t) => {
  const { repository, make } = workspaceKit(t, { "a.txt": "1\n2\n", "b.txt": "b\n", ".gitignore": "ignored\n" });
  repository.write(".env", "KEY=1\n");
  const { workspace, inside } = await make({ copy: [".env"] });
  assert.deepEqual((await workSoFar(workspace, look))?.files, []);
  inside.write("a.txt", "1\ntwo\n");
  inside.git("add", "-A");
  inside.git("commit", "-qm", "first");
  inside.write("b.txt", "b\nmore\n");
  inside.write("new.txt", "new\n");
  inside.write("ignored", "not work\n");
  const [before, status] = [personsThings(repository), inside.git("status", "--porcelain")];

  const seen = await workSoFar(workspace, look);
  assert.deepEqual(
    seen?.files.map(({ path, change, added, removed }) => [path, change, added, removed]),
    [
      ["a.txt", "modified", 1, 1],
      ["b.txt", "modified", 1, 0],
      ["new.txt", "added", 1, 0],
    ],
  );
  const patch = seen?.patch.toString() ?? "";
  for (const line of ["+two", "+more", "+new"]) assert.ok(patch.includes(`\n${line}\n`), line);
  assert.ok(!patch.includes("KEY"), "a file that was copied into the folder is no work");
  const cut = await workSoFar(workspace, { ...look, maxBytes: 300 });
  assert.ok(cut?.isCut === true && cut.patch.length <= 300 && cut.patch.toString().endsWith("\n"));
  assert.deepEqual([personsThings(repository), inside.git("status", "--porcelain")], [before, status]);
});
