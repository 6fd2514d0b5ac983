import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { acpWorld, ledgerIn, scriptedProfiles } from "../../../test/support/acp-kit.ts";
import { testRepository } from "../../../test/support/git-kit.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { confineGit } from "../../runner/shared/sandbox/confine-git.ts";
import { probeSandbox } from "../../runner/shared/sandbox/sandbox-status.ts";
import { openWorkspaces, readRecords } from "../../workspace/index.ts";
import { openProject } from "./open-project.ts";
import { openTrustedSettings } from "./trusted-settings.ts";

const sandbox = await probeSandbox();

test(
  "a session sees the repository's settings for agents in the version that the person trusted, and in no other",
  { skip: sandbox.confined ? false : sandbox.reason },
  async (t) => {
    const repository = testRepository(t);
    const state = join(tempFolder(t), "state");
    const store = openWorkspaces(state);
    const workspaces = { store, commits: "tutti", copy: [], confine: confineGit(sandbox, []) } as const;
    const trustedSettings = openTrustedSettings(state);
    const world = await acpWorld(t, {
      runner: { profiles: scriptedProfiles("."), sandbox, approvals: [], workspaces, trustedSettings },
    });
    const inner = join(repository.folder, "inner");
    const seen = async (): Promise<unknown[]> => {
      const rights = { tools: "*", roots: [inner] } as const;
      const looks = [{ see: "../.claude/settings.json" }, { see: ".mcp.json" }];
      assert.equal((await world.run([...looks, { say: "done" }], { rights })).status, "completed");
      const made = readRecords(store).workspaces.at(-1);
      return ledgerIn(join(made?.folder ?? "", "inner"), "saw").map((each) => Object(each)[1]);
    };
    repository.commit({ ".claude/settings.json": "hooks\n", "inner/.mcp.json": "servers\n" }, "settings");
    assert.deepEqual(await seen(), [null, "{}\n"], "nobody agreed to it");

    const project = openProject(inner, { state });
    // Of no use to a worktree, which has only what is committed; it is agreed to all the same.
    mkdirSync(join(repository.folder, ".claude"), { recursive: true });
    writeFileSync(join(repository.folder, ".claude", "settings.local.json"), "mine\n");
    const shown = await project.agentSettings();
    assert.deepEqual(
      shown.files.map(({ path, text, trusted }) => [path, text, trusted]),
      [
        ["inner/.mcp.json", "servers\n", false],
        [".claude/settings.json", "hooks\n", false],
        [".claude/settings.local.json", "mine\n", false],
      ],
    );
    await project.trustAgentSettings(shown);
    assert.deepEqual(await seen(), ["hooks\n", "servers\n"]);
    assert.deepEqual(
      trustedSettings.list().map(({ folder, path }) => [folder, path]),
      shown.files.map(({ path }) => [repository.folder, path]),
    );

    repository.commit({ ".claude/settings.json": "other hooks\n" }, "changed");
    assert.deepEqual(await seen(), [null, "{}\n"], "the content has changed");
    repository.git("revert", "--no-edit", "HEAD");
    assert.deepEqual(await seen(), ["hooks\n", "servers\n"], "the version that was agreed to is back");
    assert.equal(await project.revokeTrust(), true);
    assert.deepEqual(await seen(), [null, "{}\n"]);
    assert.deepEqual(trustedSettings.list(), []);
  },
);
