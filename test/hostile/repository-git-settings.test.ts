// A repository that comes with its git folder names programs in places that a list of its settings does not show at once.

import assert from "node:assert/strict";
import { chmodSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";

import { createWorkspace } from "../../src/workspace/create-workspace.ts";
import { readSettings, safeSettings } from "../../src/workspace/git-settings.ts";
import { mergeBranch } from "../../src/workspace/merge-branch.ts";
import { openWorkspaces } from "../../src/workspace/record-store.ts";
import { type TestRepository, testRepository } from "../support/git-kit.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { failsWith } from "../support/try-tool.ts";

function planted(t: TestContext) {
  const folder = tempFolder(t);
  const ran = join(folder, "ran");
  const program = join(folder, "evil");
  writeFileSync(program, `#!/bin/sh\ntouch ${ran}\ncat\n`);
  chmodSync(program, 0o755);
  const neverRan = (): void => assert.equal(existsSync(ran), false, "the program was started");
  return { program, neverRan, filter: `[filter "evil"]\n\tclean = ${program}\n\tsmudge = ${program}\n` };
}

async function workIn(t: TestContext, project: string) {
  const store = openWorkspaces(join(tempFolder(t), "state"));
  return createWorkspace(store, { task: "tsk_1", attempt: 1, project, now: 1 });
}

function linkedCheckout(t: TestContext, repository: TestRepository): string {
  const linked = join(tempFolder(t), "linked");
  repository.git("worktree", "add", "-q", "-b", "side", linked);
  return linked;
}

const filtered = { "a.txt": "a\n", ".gitattributes": "*.txt filter=evil\n" };

test("a filter whose name cannot be given to git as it is stops the work, and is not run", async (t) => {
  for (const name of [Buffer.from("a=b"), Buffer.from([0x61, 0xff])]) {
    const { program, neverRan } = planted(t);
    const repository = testRepository(t);
    const config = join(repository.folder, ".git", "config");
    const attributes = join(repository.folder, ".gitattributes");
    writeFileSync(config, Buffer.concat([Buffer.from('[filter "'), name, Buffer.from(`"]\n\tclean = ${program}\n`)]), {
      flag: "a",
    });
    writeFileSync(attributes, Buffer.concat([Buffer.from("*.txt filter="), name, Buffer.from("\n")]));
    repository.write("a.txt", "b\n");
    await assert.rejects(workIn(t, repository.folder), failsWith("refused", /cannot switch off/));
    neverRan();
  }
});

test("settings that count for one checkout alone bring no filter", async (t) => {
  const repository = testRepository(t, filtered);
  const { filter, neverRan } = planted(t);
  const linked = linkedCheckout(t, repository);
  repository.git("config", "extensions.worktreeConfig", "true");
  repository.write(".git/worktrees/linked/config.worktree", filter);
  writeFileSync(join(linked, "a.txt"), "b\n");
  await assert.rejects(workIn(t, linked), failsWith("refused", /filter\.evil/));
  neverRan();
});

test("settings that count on the branch of the work alone bring no filter", async (t) => {
  const repository = testRepository(t, filtered);
  const { filter, neverRan } = planted(t);
  repository.write(".git/more", filter);
  repository.git("config", "includeIf.onbranch:tutti/**.path", "more");
  await assert.rejects(workIn(t, repository.folder), failsWith("refused", /filter\.evil/));
  neverRan();
});

test("the program that signs a merge is the person's, whatever the repository names", async (t) => {
  const repository = testRepository(t);
  const { program, neverRan } = planted(t);
  repository.git("checkout", "-q", "-b", "side");
  repository.commit({ "b.txt": "b\n" });
  repository.git("checkout", "-q", "main");
  repository.commit({ "c.txt": "c\n" });
  repository.git("checkout", "-q", "--detach");
  repository.git("config", "commit.gpgSign", "true");
  repository.git("config", "user.signingKey", "key::ssh-ed25519 AAAA");
  for (const format of ["openpgp", "x509", "ssh"]) {
    repository.git("config", "gpg.format", format);
    repository.git("config", "gpg.program", program);
    for (const name of ["openpgp", "x509", "ssh"]) repository.git("config", `gpg.${name}.program`, program);
    const problems: string[] = [];
    const signing = { onUnsigned: (problem: string) => void problems.push(problem) };
    const before = repository.git("rev-parse", "main");
    await mergeBranch({ project: repository.folder, from: "side", into: "main", signing });
    assert.equal(problems.length, 1);
    neverRan();
    repository.git("update-ref", "refs/heads/main", before);
  }
  repository.git("config", "gpg.ssh.defaultKeyCommand", program);
  repository.git("config", "--unset", "user.signingKey");
  const signing = { onUnsigned: () => undefined };
  await mergeBranch({ project: repository.folder, from: "side", into: "main", signing });
  neverRan();
});

test("hooks that are settings and no files are switched off, each by its name", () => {
  const settings = readSettings("local\0hook.lint.command\nevil\0local\0hook.lint.event\nreference-transaction\0");
  assert.deepEqual(settings.hooks, ["lint"]);
  assert.ok(safeSettings(settings).includes("hook.lint.enabled=false"));
});
