// A hostile session for tests: a shell script that runs in the sandbox of a workspace.

import { spawnSync } from "node:child_process";

import { bwrapArgv } from "../../src/runner/shared/sandbox/bwrap-argv.ts";
import { confineGit } from "../../src/runner/shared/sandbox/confine-git.ts";
import { probeSandbox } from "../../src/runner/shared/sandbox/sandbox-status.ts";
import type { Confine } from "../../src/workspace/own-git.ts";
import { beginSession } from "../../src/workspace/session-git.ts";
import type { WorkspaceStore } from "../../src/workspace/record-store.ts";
import type { Workspace } from "../../src/workspace/workspace-record.ts";

const status = await probeSandbox();

/** Why a test that needs bubblewrap cannot run here; false when it can. */
export const skipUnconfined = status.confined && status.by === "bubblewrap" ? false : "bubblewrap does not work here";

export const confine: Confine | undefined = confineGit(status, []);

export interface SessionRun {
  readonly code: number | null;
  readonly output: string;
}

export async function runSession(store: WorkspaceStore, workspace: Workspace, script: string): Promise<SessionRun> {
  if (!status.confined) throw new Error("nothing confines programs here");
  const { writable, readOnly, hidden, binds } = await beginSession(store, workspace);
  const argv = bwrapArgv({ writable, readOnly, hidden, binds, blank: [], network: false, cwd: workspace.folder });
  const run = spawnSync(status.program, [...argv, "--", "/bin/sh", "-c", script], {
    encoding: "utf8",
    timeout: 240_000,
    env: {
      PATH: process.env["PATH"],
      HOME: "/tmp",
      GIT_AUTHOR_NAME: "S",
      GIT_AUTHOR_EMAIL: "s@x",
      GIT_COMMITTER_NAME: "S",
      GIT_COMMITTER_EMAIL: "s@x",
    },
  });
  return { code: run.status, output: `${run.stdout}${run.stderr}` };
}
