import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import { tempFolder } from "../../../test/support/temp-folder.ts";
import { lookAround } from "./look-around.ts";

const noon = new Date(2026, 0, 5, 12).getTime();

/** A repository with one commit, on the branch `topic/x`. */
function repository(t: TestContext): { readonly folder: string; readonly git: (...args: string[]) => string } {
  const folder = tempFolder(t);
  const env = { PATH: process.env["PATH"], HOME: folder, GIT_CONFIG_NOSYSTEM: "1" };
  const who = ["-c", "user.name=A", "-c", "user.email=a@example.com"];
  const git = (...args: string[]): string =>
    execFileSync("git", [...who, ...args], { cwd: folder, env, encoding: "utf8" }).trim();
  git("init", "-q", "-b", "topic/x");
  writeFileSync(join(folder, "a.txt"), "a");
  git("add", ".");
  git("commit", "-qm", "first");
  return { folder, git };
}

test("folder, day and platform are told of any folder", async (t) => {
  const folder = tempFolder(t);
  const found = await lookAround(folder, noon);
  assert.deepEqual({ ...found, platform: "" }, { folder, date: "2026-01-05", platform: "", git: null, notes: null });
  assert.match(found.platform, new RegExp(`^${process.platform} .*${process.arch}$`));
});

test("the branch and the commit are what git says, also packed, detached, without a commit and in a worktree", async (t) => {
  const { folder, git } = repository(t);
  const inner = join(folder, "src");
  mkdirSync(inner);
  const commit = git("rev-parse", "HEAD");
  assert.deepEqual((await lookAround(inner, noon)).git, { branch: "topic/x", commit });
  git("pack-refs", "--all");
  assert.deepEqual((await lookAround(folder, noon)).git, { branch: "topic/x", commit });
  const other = join(tempFolder(t), "other");
  git("worktree", "add", "-q", "-b", "second", other);
  assert.deepEqual((await lookAround(other, noon)).git, { branch: "second", commit });
  git("checkout", "-q", "--detach");
  assert.deepEqual((await lookAround(folder, noon)).git, { branch: null, commit });
  git("checkout", "-q", "--orphan", "empty");
  assert.deepEqual((await lookAround(folder, noon)).git, { branch: "empty", commit: null });
});

test("invariant 14: what a repository names in its git config is not executed", async (t) => {
  const { folder, git } = repository(t);
  git("config", "core.fsmonitor", `touch ${join(folder, "ran")}; false`);
  await lookAround(folder, noon);
  assert.equal(execFileSync("ls", [folder], { encoding: "utf8" }), "a.txt\n");
});

test("the nearest notes are told, up to the top of the repository, AGENTS.md before CLAUDE.md", async (t) => {
  const { folder } = repository(t);
  const inner = join(folder, "packages", "one");
  mkdirSync(inner, { recursive: true });
  writeFileSync(join(folder, "CLAUDE.md"), "of claude");
  assert.deepEqual((await lookAround(inner, noon)).notes, {
    file: "../../CLAUDE.md",
    text: "of claude",
    isCut: false,
  });
  writeFileSync(join(folder, "AGENTS.md"), "of all");
  assert.equal((await lookAround(folder, noon)).notes?.text, "of all");
  writeFileSync(join(inner, "AGENTS.md"), "of one");
  assert.equal((await lookAround(inner, noon)).notes?.text, "of one");
  const alone = join(tempFolder(t), "inner");
  mkdirSync(alone);
  writeFileSync(join(alone, "..", "AGENTS.md"), "of a stranger");
  assert.equal(
    (await lookAround(alone, noon)).notes,
    null,
    "outside of a repository only the folder itself is looked at",
  );
});

test("notes that are long are cut; those that are no text, or a link to elsewhere, are not told", async (t) => {
  const { folder } = repository(t);
  writeFileSync(join(folder, "AGENTS.md"), "ä".repeat(20_000));
  const { notes } = await lookAround(folder, noon);
  assert.equal(notes?.isCut, true);
  assert.match(notes?.text ?? "", /^ä{12288}$/);
  writeFileSync(join(folder, "AGENTS.md"), Buffer.from([0xff, 0xfe, 0x00, 0x41]));
  assert.equal((await lookAround(folder, noon)).notes, null);
  const secret = join(tempFolder(t), "secret");
  writeFileSync(secret, "a secret");
  symlinkSync(secret, join(folder, "CLAUDE.md"));
  assert.equal((await lookAround(folder, noon)).notes, null);
});

test(
  "invariant 14: a pipe in the place of the notes or of HEAD does not hold the look up",
  { timeout: 240_000 },
  async (t) => {
    const { folder } = repository(t);
    for (const path of [join(folder, "AGENTS.md"), join(folder, ".git", "HEAD")]) {
      rmSync(path, { force: true });
      execFileSync("/bin/sh", ["-c", `mkfifo "$0"`, path]);
    }
    const { notes, git } = await lookAround(folder, noon);
    assert.deepEqual({ notes, git }, { notes: null, git: null });
  },
);
