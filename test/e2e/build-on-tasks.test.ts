// Tasks that build on each other, from the command line to the branch that is merged, with the scripted agent in a real sandbox.
import assert from "node:assert/strict";
import { realpathSync } from "node:fs";
import { dirname } from "node:path";
import { test } from "node:test";

import { agentFile } from "../support/acp-kit.ts";
import { bench } from "../support/cli-process.ts";
import { testRepository } from "../support/git-kit.ts";
import { ledgerIgnored, skip } from "../support/session-place.ts";

test(
  "a task builds on another one, a tree is integrated, and its protected files are approved by name",
  { skip },
  (t) => {
    const command = [process.execPath, agentFile, ".", "{}"];
    const acp = {
      profiles: { scripted: { command, mode: "asking", login: "none", metered: true } },
      toolchains: [dirname(agentFile), dirname(realpathSync(process.execPath))],
    };
    const repository = testRepository(t, {
      ...ledgerIgnored,
      "tutti.config.json": JSON.stringify({ acp, workspaces: { branch: "work/{task}/{attempt}" } }),
      ".tutti/agents/coder.md": "---\nname: coder\ndescription: codes\n---\nYou code.\n",
    });
    const tutti = bench(t);
    assert.equal(tutti.run("trust", repository.folder).status, 0);
    const work = (shell: string, ...more: readonly string[]): string => {
      const prompt = JSON.stringify([{ shell }, { say: "done" }]);
      const options = ["--cwd", repository.folder, "--runner", "acp:scripted", "--no-input", ...more];
      const { status, err } = tutti.run("agents", "run", "coder", prompt, ...options);
      assert.equal(status, 0, err);
      return /tsk_\w+/.exec(err)?.[0] ?? "";
    };
    work("echo one > one.txt");
    const second = work("cp one.txt two.txt; echo x > .envrc", "--after", "last");
    const local = tutti.run("agents", "run", "coder", "hi", "--cwd", repository.folder, "--after", "last");
    assert.match(local.err, /path: two\.txt/, "an agent of Tutti's own process builds on it, too");

    const made = tutti.run("integrate", second, "--json");
    assert.equal(made.status, 0, made.err);
    const { branch } = JSON.parse(made.out) as { branch: string };
    assert.equal(branch, `work/${second}/integration`);
    repository.git("branch", "next");
    const merge = (...more: readonly string[]) => tutti.run("merge", second, "next", "--unverified", ...more);
    const refused = merge();
    assert.equal(refused.status, 5);
    assert.match(refused.err, /protected files that nobody has approved: "\.envrc"; .* --protected FILE/);
    assert.equal(merge("--protected", ".envrc").status, 0);
    assert.equal(repository.git("show", "next:two.txt"), "one");
    assert.equal(repository.git("status", "--porcelain"), "");
  },
);
