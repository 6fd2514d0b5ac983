// Commits that are a few small objects and would be very many files, and files that are long and empty.
import assert from "node:assert/strict";
import { truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { confine, runSession, skipUnconfined as skip } from "../../test/support/confined-session.ts";
import { failsWith } from "../../test/support/try-tool.ts";
import { workspaceKit } from "../../test/support/workspace-kit.ts";
import { endSession } from "./end-session.ts";
import { openGit } from "./own-git.ts";
import { saveWorkspace } from "./save-workspace.ts";
import { refuseHugeWork, refuseManyFiles } from "./work-size.ts";

/** Each tree has the same ten entries: five objects are ten thousand files. */
const bomb = `set -e
b=$(echo 123456789 | git hash-object -w --stdin)
t=$(for i in 0 1 2 3 4 5 6 7 8 9; do printf '100644 blob %s\\tf%s\\n' $b $i; done | git mktree)
for level in 1 2 3; do t=$(for i in 0 1 2 3 4 5 6 7 8 9; do printf '040000 tree %s\\td%s\\n' $t $i; done | git mktree); done
git update-ref HEAD $(git commit-tree -p HEAD -m bomb $t)`;

test("a session's commit that would be too many files is not taken, and the branch stays", { skip }, async (t) => {
  const { store, repository, make } = workspaceKit(t);
  const { workspace } = await make();
  const { code, output } = await runSession(store, workspace, bomb);
  assert.equal(code, 0, output);
  const ended = await endSession(workspace, { confine, limits: { files: 1_000, bytes: 1e9 } });
  assert.deepEqual([ended?.moved, ended?.tip], [false, workspace.base]);
  assert.match(
    ended?.problems.join() ?? "",
    /^The commit \w{40} of the session cannot be used: it has more than 1000 files$/,
  );
  assert.equal(repository.git("rev-parse", workspace.branch ?? ""), workspace.base);
});

test("files are counted as a checkout would have them, and what the work began with does not count", async (t) => {
  const { repository } = workspaceKit(t);
  const git = await openGit(join(repository.folder, ".git"));
  const base = repository.git("rev-parse", "HEAD");
  const made = repository.commit({ "big.txt": "x".repeat(5_000) });
  const more = repository.commit({ "more.txt": "y" });
  const most = (files: number, bytes: number) => ({ limits: { files, bytes } });
  await refuseHugeWork(git, { commit: made, base, ...most(100, 5_100) });
  await refuseHugeWork(git, { commit: more, base: made, ...most(100, 10) });
  await assert.rejects(
    refuseHugeWork(git, { commit: made, base, ...most(100, 4_900) }),
    failsWith("too_large", /4900 bytes/),
  );
  await assert.rejects(
    refuseManyFiles(git, { commit: more, ...most(1, 1e9) }),
    failsWith("too_large", /more than 1 files/),
  );
});

test("a long file without content is refused before it is read, and stays in the workspace", async (t) => {
  const { make } = workspaceKit(t);
  const { workspace } = await make();
  const file = join(workspace.folder, "zeros");
  writeFileSync(file, "");
  truncateSync(file, 2 ** 40);
  const saving = saveWorkspace(workspace, { commits: "tutti", limits: { files: 1_000, bytes: 2 ** 30 } });
  await assert.rejects(saving, failsWith("too_large", /more than 1073741824 bytes of files that are new or changed/));
});
