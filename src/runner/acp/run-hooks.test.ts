import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";

import { personsThings, testRepository, type TestRepository } from "../../../test/support/git-kit.ts";
import { ledgerIgnored, savedIn, sessionPlace, skip } from "../../../test/support/session-place.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { readRecords } from "../../workspace/index.ts";

function writeHook(repository: TestRepository, path: string, script: string): void {
  const file = join(repository.folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
}

const files = { "a.txt": "a\n", ...ledgerIgnored };

test(
  "the person's hooks run before Tutti commits: they see what is staged, may change it, and reach nothing else",
  { skip },
  async (t) => {
    const repository = testRepository(t, files);
    const outside = join(tempFolder(t), "outside");
    writeHook(
      repository,
      ".git/hooks/pre-commit",
      `git diff --cached --name-only | tr '\\n' ' ' > staged.txt
       sed -i s/draft/final/ new.txt
       { cat "$HOME/login.json" "$HOME/../login.json"; env | grep -i hunter; } > keys.txt 2>/dev/null
       touch ${outside} ${join(repository.folder, "planted")} 2>/dev/null
       git config core.pager evil 2>/dev/null
       true`,
    );
    writeHook(repository, ".git/hooks/commit-msg", `echo "Checked-by: hook" >> "$1"`);
    const { world, task } = await sessionPlace(t, { repository });
    const before = personsThings(repository);
    assert.equal((await world.run([{ shell: "echo draft > new.txt" }, { say: "done" }], task)).status, "completed");
    const [saved] = await savedIn(world);
    const show = (path: string): string => repository.git("show", `${saved?.branch ?? ""}:${path}`);
    assert.deepEqual(saved?.warnings, []);
    assert.equal(show("new.txt"), "final");
    assert.equal(show("staged.txt"), "new.txt");
    assert.equal(show("keys.txt"), "");
    assert.match(repository.git("log", "-1", "--format=%B", saved?.branch ?? ""), /^coder: [^]*\nChecked-by: hook$/);
    assert.equal(existsSync(outside), false);
    assert.deepEqual(personsThings(repository), before);
  },
);

test(
  "a hook that refuses is reported and the work stays; the base's version counts, and hooks can be turned off",
  { skip },
  async (t) => {
    const repository = testRepository(t, files);
    writeHook(repository, "tools/hooks/pre-commit", "echo 'lint: line 1 is bad' >&2; exit 1");
    repository.commit({});
    repository.git("config", "core.hooksPath", "tools/hooks");
    const actions = [
      { shell: "echo new > new.txt; printf '#!/bin/sh\\nexit 0\\n' > tools/hooks/pre-commit" },
      { say: "done" },
    ];
    const { world, task, store } = await sessionPlace(t, { repository });
    assert.equal((await world.run(actions, task)).status, "completed");
    const [saved] = await savedIn(world);
    assert.match(
      saved?.warnings.join(" ") ?? "",
      /your hook pre-commit refused the commit\. It said: lint: line 1 is bad/,
    );
    assert.deepEqual([saved?.commits, saved?.uncommitted], [0, 2]);
    const [workspace] = readRecords(store).workspaces;
    assert.equal(readFileSync(join(workspace?.folder ?? "", "new.txt"), "utf8"), "new\n");

    const off = await sessionPlace(t, { repository, workspaces: { hooks: false } });
    assert.equal((await off.world.run(actions, off.task)).status, "completed");
    assert.equal((await savedIn(off.world)).at(-1)?.commits, 1);
  },
);

test("Tutti's commit is signed as the person's git says; where it cannot be, this is said", { skip }, async (t) => {
  const repository = testRepository(t, files);
  const key = join(tempFolder(t), "key");
  execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", key]);
  const settings = { "commit.gpgsign": "true", "gpg.format": "ssh", "user.signingkey": key };
  for (const [name, value] of Object.entries(settings)) repository.git("config", name, value);
  const commitOf = async (signing: boolean): Promise<{ readonly text: string; readonly warnings: string }> => {
    const { world, task } = await sessionPlace(t, { repository, workspaces: { signing } });
    assert.equal((await world.run([{ shell: "echo new > new.txt" }, { say: "done" }], task)).status, "completed");
    const saved = (await savedIn(world)).at(-1);
    return {
      text: repository.git("cat-file", "commit", saved?.branch ?? ""),
      warnings: saved?.warnings.join(" ") ?? "",
    };
  };
  assert.match((await commitOf(true)).text, /^gpgsig -----BEGIN SSH SIGNATURE-----$/m);
  assert.doesNotMatch((await commitOf(false)).text, /gpgsig/);
  repository.git("config", "user.signingkey", `${key}.missing`);
  const unsigned = await commitOf(true);
  assert.doesNotMatch(unsigned.text, /gpgsig/);
  assert.match(unsigned.warnings, /Your git signs commits, but a commit of Tutti's could not be signed here/);
});
