// A program says the words of a person: that unverified work is merged, that a checkout may change, that work is pushed or lost.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import type { Tutti } from "../../src/client/client.ts";
import { httpClient } from "../../src/client/http-client.ts";
import { TuttiError } from "../../src/protocol/error.ts";
import { createWorkspace } from "../../src/workspace/create-workspace.ts";
import { openWorkspaces } from "../../src/workspace/record-store.ts";
import { fakeGh, honestGh } from "../support/fake-gh.ts";
import { repositoryAt, testRepository } from "../support/git-kit.ts";
import { openKit } from "../support/http-kit.ts";

async function refusal(call: () => Promise<unknown>): Promise<string> {
  try {
    await call();
  } catch (thrown) {
    if (thrown instanceof TuttiError && thrown.code === "refused") return thrown.message;
    throw thrown;
  }
  return assert.fail("it was done");
}

test("a key of a program neither merges unverified work, changes a checkout, pushes nor discards work; one of a person does", async (t) => {
  const gh = fakeGh(t, honestGh);
  const { PATH } = process.env;
  process.env["PATH"] = gh.path;
  t.after(() => (process.env["PATH"] = PATH));
  const kit = await openKit({ runners: { quick: async () => "done" } });
  t.after(() => kit.close());
  const as = (key: string): Tutti => {
    const client = httpClient({ url: kit.http.url, key });
    t.after(() => client.close());
    return client;
  };
  const person = as(kit.key);
  const repository = testRepository(t);
  repository.git("remote", "add", "origin", gh.origin);
  repository.git("branch", "next");
  const task = await kit.start({ agent: "a", runner: { kind: "quick", config: {} } });
  await kit.state.client.result(task);
  const wanted = { task, attempt: 1, project: repository.folder, now: Date.now() };
  const made = await createWorkspace(openWorkspaces(kit.folder), wanted);
  assert.ok(made.state === "ready");
  const tip = repositoryAt(made.workspace.folder).commit({ ".github/workflows/all.yml": "on: push\n", "b.txt": "b\n" });

  for (const role of ["operator", "admin"] as const) {
    const program = as((await person.addKey({ name: `a ${role}`, role })).key);
    const { branch, remote, url, title, base } = await program.pullRequestPlan(task);
    const plan = { branch, tip, remote, url, title, base };
    assert.match(await refusal(() => program.openPullRequest(task, plan)), /only a person may push work/);
    assert.match(
      await refusal(() => program.mergeTask(task, { into: "next", unverified: true })),
      /only a person may merge work that Tutti has not verified/,
    );
    assert.match(
      await refusal(() => program.mergeTask(task, { into: "main", allow_checked_out: true })),
      /only a person may agree to change a checkout/,
    );
    assert.match(await refusal(() => program.mergeTask(task, { into: "next" })), /has not verified this work/);
    assert.match(
      await refusal(() => program.removeWorkspace(made.workspace.id, { uncommitted: "discard" })),
      /only a person may discard work/,
    );
  }
  assert.equal(repository.git("ls-remote", "origin"), "");
  assert.equal(repository.git("rev-parse", "next"), repository.git("rev-parse", "main"));
  assert.equal(existsSync(join(repository.folder, "b.txt")), false);

  const merging = { into: "next", unverified: true, protected: [".github/workflows/all.yml"] };
  assert.equal((await person.mergeTask(task, merging)).commit, tip);
});
