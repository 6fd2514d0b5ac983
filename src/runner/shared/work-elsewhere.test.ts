import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";

import { repositoryAt, testRepository, type TestRepository } from "../../../test/support/git-kit.ts";
import { type Cleanup, tempFolder } from "../../../test/support/temp-folder.ts";
import { failsWith } from "../../../test/support/try-tool.ts";
import { runPersonsProgram } from "../../daemon/state/run-persons-program.ts";
import { type FoundElsewhere, findWorkElsewhere, type SavedWork } from "./work-elsewhere.ts";

const branch = "tutti/one/1";

interface Machines {
  /** The checkout where the task worked. */
  readonly there: TestRepository;
  /** A checkout of the same remote on another machine. */
  readonly here: TestRepository;
  readonly saved: SavedWork;
  readonly look: (saved?: SavedWork | null) => Promise<FoundElsewhere>;
}

function machines(t: Cleanup): Machines {
  const there = testRepository(t);
  const [remote, folder] = [join(tempFolder(t), "remote.git"), join(tempFolder(t), "here")];
  execFileSync("git", ["clone", "-q", "--bare", there.folder, remote], { stdio: "ignore" });
  execFileSync("git", ["clone", "-q", remote, folder], { stdio: "ignore" });
  there.git("remote", "add", "origin", remote);
  there.git("checkout", "-q", "-b", branch);
  there.commit({ "work.txt": "done\n" }, "the work");
  const saved = { attempt: 1, branch, tip: there.git("rev-parse", "HEAD"), machine: "alder" };
  const look = (given: SavedWork | null = saved): Promise<FoundElsewhere> =>
    findWorkElsewhere(
      "tsk_one",
      { savedWork: async () => given ?? undefined, runPersonsProgram, project: folder },
      AbortSignal.timeout(240_000),
    );
  return { there, here: repositoryAt(folder), saved, look };
}

test("work that was done on another machine is found where it was pushed, and stays what it was", async (t) => {
  const { there, here, saved, look } = machines(t);
  there.git("push", "-q", "origin", branch);
  const found = await look();
  assert.deepEqual(found.work, { task: "tsk_one", attempt: 1, branch, commit: saved.tip });
  assert.match(found.note, /worked at alder; its branch tutti\/one\/1 was found at the remote origin/);
  assert.equal(here.git("show", `${saved.tip ?? ""}:work.txt`), "done");
  assert.match((await look()).note, /was found in the repository/, "the second time it is here");
  there.commit({ "work.txt": "more\n" }, "more");
  there.git("push", "-q", "origin", branch);
  assert.equal((await look()).work.commit, saved.tip, "what was pushed later is not the work of the task");
});

test("work that was not pushed is unknown, and what to do is said", async (t) => {
  const { look, saved } = machines(t);
  const expected = /whose work is at alder, .* branch tutti\/one\/1, so what it did is unknown here; push the branch/;
  await assert.rejects(look(), failsWith("outcome_unknown", expected));
  await assert.rejects(look({ ...saved, branch: null }), failsWith("conflict", /has no branch/));
  await assert.rejects(look(null), failsWith("not_found", /left no work/));
});
