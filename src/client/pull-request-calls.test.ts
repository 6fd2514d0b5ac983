// Pull requests over HTTP, over real git repositories and a `gh` that the test wrote.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { describe, test, type TestContext } from "node:test";

import { type FakeGh, fakeGh, honestGh } from "../../test/support/fake-gh.ts";
import { repositoryAt, testRepository, type TestRepository } from "../../test/support/git-kit.ts";
import { type Kit, openKit } from "../../test/support/http-kit.ts";
import type { OpenPullRequest, PullRequestPlan } from "../protocol/api/pull-request-shapes.ts";
import { TuttiError } from "../protocol/error.ts";
import { createWorkspace } from "../workspace/create-workspace.ts";
import { openWorkspaces } from "../workspace/record-store.ts";
import type { Workspace } from "../workspace/workspace-record.ts";
import type { Tutti } from "./client.ts";
import { httpClient } from "./http-client.ts";

interface Desk {
  readonly kit: Kit;
  readonly there: Tutti;
  readonly gh: FakeGh;
  readonly repository: TestRepository;
  /** A task and the workspace that it worked in. */
  readonly worked: (kind: "quick" | "slow") => Promise<{ task: string; workspace: Workspace; inside: TestRepository }>;
}

async function desk(t: TestContext, script: string): Promise<Desk> {
  const gh = fakeGh(t, script);
  const { PATH } = process.env;
  process.env["PATH"] = gh.path;
  t.after(() => (process.env["PATH"] = PATH));
  const kit = await openKit({
    runners: {
      quick: async () => "done",
      slow: async ({ signal }: { readonly signal: AbortSignal }) => {
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        signal.throwIfAborted();
        return { outcome: "completed", result: "done" } as const;
      },
    },
  });
  t.after(() => kit.close());
  const there = httpClient({ url: kit.http.url, key: kit.key });
  t.after(() => there.close());
  const repository = testRepository(t);
  repository.git("remote", "add", "origin", gh.origin);
  return {
    kit,
    there,
    gh,
    repository,
    async worked(kind) {
      const task = await kit.start({ agent: "a", runner: { kind, config: {} } });
      if (kind === "quick") await kit.state.client.result(task);
      const wanted = { task, attempt: 1, project: repository.folder, now: Date.now() };
      const made = await createWorkspace(openWorkspaces(kit.folder), wanted);
      assert.equal(made.state, "ready");
      const { workspace } = made as { workspace: Workspace };
      return { task, workspace, inside: repositoryAt(workspace.folder) };
    },
  };
}

function agreedTo({ branch, tip, remote, url, title, base }: PullRequestPlan): OpenPullRequest {
  return { branch, tip, remote, url, title, base };
}

async function failure(call: () => Promise<unknown>): Promise<TuttiError> {
  try {
    await call();
  } catch (thrown) {
    if (thrown instanceof TuttiError) return thrown;
    throw thrown;
  }
  throw new Error("it did not fail");
}

describe("pull requests over HTTP", () => {
  test("what was agreed to is pushed and nothing else, and the pull request is looked up", async (t) => {
    const { there, gh, repository, worked } = await desk(t, honestGh);
    const { task, workspace, inside } = await worked("quick");
    const tip = inside.commit({ "b.txt": "b\n" }, "--title for @everybody `x` \u001b]0;t\u0007 hunter2");
    // Settings with which a plain push would take more along.
    repository.git("config", "push.followTags", "true");
    repository.git("tag", "-a", "-m", "secret", "private", tip);
    const plan = await there.pullRequestPlan(task, { base: "main" });
    assert.deepEqual(
      [plan.branch, plan.tip, plan.remote, plan.url, plan.base, plan.commits, plan.verification.state],
      [workspace.branch, tip, "origin", gh.origin, "main", 1, "unverified"],
    );
    assert.equal(plan.title, String.raw`--title for @everybody ${"`x`"} \u001b]0;t\u0007 [secret]`);
    assert.equal(repository.git("ls-remote", "origin"), "", "a plan changes nothing");

    const opened = await there.openPullRequest(task, agreedTo(plan));
    assert.deepEqual(opened, {
      task,
      number: 7,
      url: "https://github.example/pull/7",
      branch: workspace.branch,
      base: "main",
      commit: tip,
      existed: false,
    });
    assert.equal(repository.git("ls-remote", "origin"), `${tip}\trefs/heads/${workspace.branch ?? ""}`);
    const said = readFileSync(gh.said, "utf8");
    assert.match(said, /^--title=--title for @everybody `x`/m);
    assert.match(said, /Tutti has not verified it\.\n\n- `--title for @everybody 'x' .*\[secret\]`$/m);
  });

  test("an agreement to something that has changed since pushes nothing", async (t) => {
    const { there, gh, repository, worked } = await desk(t, honestGh);
    const { task, inside } = await worked("quick");
    inside.commit({ "b.txt": "b\n" });
    const plan = await there.pullRequestPlan(task);
    const tip = inside.commit({ "c.txt": "c\n" });
    const moved = await failure(() => there.openPullRequest(task, agreedTo(plan)));
    assert.equal(moved.code, "conflict");
    assert.match(moved.message, new RegExp(`not what was agreed to: tip is "${tip}" now; look at the plan again`));

    const second = await there.pullRequestPlan(task);
    repository.git("remote", "set-url", "--push", "origin", gh.origin);
    repository.git("remote", "set-url", "--push", "--add", "origin", "https://me:pass@elsewhere.invalid/x.git");
    const elsewhere = await failure(() => there.openPullRequest(task, agreedTo(second)));
    assert.equal(elsewhere.code, "conflict");
    assert.match(elsewhere.message, /url is ".* and https:\/\/elsewhere\.invalid\/x\.git" now/);
    assert.equal(repository.git("ls-remote", gh.origin), "");
    assert.ok(!existsSync(gh.said), "nothing was created either");
  });

  test("names that git or gh would take for something else, unfinished work and viewers are refused", async (t) => {
    const { kit, there, gh, worked } = await desk(t, honestGh);
    const { task, inside } = await worked("quick");
    const nothing = await failure(() => there.pullRequestPlan(task));
    assert.match(nothing.message, /there is no commit on tutti\/\S+ to push/);
    inside.commit({ "b.txt": "b\n" });
    const plan = agreedTo(await there.pullRequestPlan(task));
    for (const wrong of [
      { remote: "--exec=x" },
      { remote: "ext::sh -c x" },
      { base: "-x" },
      { branch: "a:b" },
      { tip: "HEAD" },
      { title: "a\nb" },
    ]) {
      const { code } = await failure(() => there.openPullRequest(task, { ...plan, ...wrong }));
      assert.equal(code, "invalid_input", JSON.stringify(wrong));
    }
    assert.equal((await failure(() => there.pullRequestPlan(task, { remote: "none" }))).code, "not_found");
    const { task: running, inside: half } = await worked("slow");
    half.commit({ "c.txt": "c\n" });
    assert.match((await failure(() => there.pullRequestPlan(running))).message, /is not over: it is running/);

    const { key } = await kit.keys.add({ name: "v", role: "viewer" });
    const viewer = httpClient({ url: kit.http.url, key });
    t.after(() => viewer.close());
    assert.equal((await failure(() => viewer.pullRequestPlan(task))).code, "refused");
    assert.equal((await failure(() => viewer.openPullRequest(task, plan))).code, "refused");
    assert.ok(!existsSync(gh.said));
  });

  test("without gh the answer says what to do, and a pull request that is another one is not believed", async (t) => {
    const { there, gh, repository, worked } = await desk(t, "exit 1");
    const { task, workspace, inside } = await worked("quick");
    inside.commit({ "b.txt": "b\n" });
    const none = await failure(() => there.pullRequestPlan(task));
    assert.equal(none.code, "not_found");
    assert.match(
      none.message,
      /gh\) is not installed; install it from .*, or push the branch with `git -C .* push origin/,
    );
    gh.write(honestGh);
    const plan = agreedTo(await there.pullRequestPlan(task, { base: "main" }));
    gh.write(honestGh.replace('\\"baseRefName\\":\\"main\\"', '\\"baseRefName\\":\\"release\\"'));
    const other = await failure(() => there.openPullRequest(task, plan));
    assert.match(other.message, /is not the one that was asked for: .* goes into release/);
    gh.write(`[ "$1" = --version ] || { echo "hunter2: no login" >&2; exit 4; }`);
    const failed = await failure(() => there.openPullRequest(task, plan));
    assert.match(failed.message, /was pushed to .*, but no pull request was found: \[secret\]: no login$/);
    assert.notEqual(repository.git("ls-remote", "origin", workspace.branch ?? ""), "");
    gh.write(`[ "$2" != create ] || { echo "already exists" >&2; exit 1; }\n${honestGh}`);
    assert.equal((await there.openPullRequest(task, plan)).existed, true);
  });
});
