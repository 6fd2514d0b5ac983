// Runs the person's commit hooks before Tutti commits the work of a session: confined, without keys and without the network.

import { constants } from "node:fs";
import { copyFile, mkdir, open, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { escapeInvisible } from "../../core/escape-invisible.ts";
import type { StepContext } from "../../ports.ts";
import {
  beginSession,
  type CommitHook,
  type CommitHooks,
  type CommitVerdict,
  type Workspace,
  type WorkspaceStore,
  worktreeGitDir,
} from "../../workspace/index.ts";
import type { CommandResult } from "../command/command-result.ts";
import { readCommandConfig } from "../command/config.ts";
import { runCommand } from "../command/run-command.ts";
import { makeHome, prepareProgram, type ProgramPlace, removeHome } from "./confined-program.ts";

export interface HookRun {
  readonly launch: ProgramPlace;
  readonly store: WorkspaceStore;
  readonly workspace: Workspace;
  readonly found: CommitHooks;
  readonly step: StepContext;
}

const mostMinutes = 10;
const mostMessageBytes = 64 * 1024;
/** In the home of the hooks. */
const [indexName, objectsName] = ["index", "objects"];
/** How much of what a hook said is told. */
const mostLines = 10;

/** Where nothing confines programs, no hook runs, and this is said: a hook runs what the session wrote. */
export async function runHooks(run: HookRun, message: string): Promise<CommitVerdict> {
  const { launch, workspace, found } = run;
  const names = found.hooks.map(({ name }) => name).join(", ");
  if (!launch.sandbox.confined) {
    const why = `Your commit hooks (${names}) did not run, because nothing confines programs here; run them yourself.`;
    return { message, warnings: [why] };
  }
  const home = join(launch.home, "hooks");
  await makeHome(home);
  try {
    const git = await beginSession(run.store, workspace);
    const folder = { cwd: workspace.folder, roots: [workspace.folder], git };
    const place = { ...launch, home, folder, toolchains: [...launch.toolchains, found.folder] };
    const file = join(home, "COMMIT_EDITMSG");
    await writeFile(file, `${message}\n`);
    // An index and objects of their own, because a sandbox without mounts cannot write to those of the worktree.
    await copyFile(join(worktreeGitDir(workspace), "index"), join(home, indexName));
    await mkdir(join(home, objectsName));
    const staged = await inSandbox(run, place, [...stage, ...workspace.copied.map((path) => `:(exclude)${path}`)]);
    if (staged.exit_code !== 0) {
      return {
        refused: `The work was not committed: your commit hooks (${names}) need the files staged. ${said(staged)}`,
      };
    }
    for (const hook of found.hooks) {
      const result = await inSandbox(run, place, [hook.file, ...argumentsOf(hook, file)]);
      if (result.exit_code === 0) continue;
      const how = result.timed_out ? `took longer than ${mostMinutes} minutes` : "refused the commit";
      return {
        refused: `The work was not committed and stays in the workspace: your hook ${hook.name} ${how}. ${said(result)}`,
      };
    }
    const changed = await readMessage(file);
    if (changed === undefined || changed.trim() === "") {
      return {
        refused: "The work was not committed and stays in the workspace: your hooks left no message for the commit.",
      };
    }
    return { message: changed.trimEnd(), warnings: [] };
  } finally {
    // The session is over, so nothing else is in its home.
    await removeHome(launch.home);
  }
}

/** Only for the hooks to look at: what is committed are the files as the hooks leave them. */
const stage = ["git", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "add", "-A", "--", "."] as const;

function argumentsOf({ name }: CommitHook, file: string): string[] {
  if (name === "pre-commit") return [];
  return name === "commit-msg" ? [file] : [file, "message"];
}

async function inSandbox(
  { workspace, found, step }: HookRun,
  place: ProgramPlace,
  command: readonly [string, ...string[]],
): Promise<CommandResult> {
  const { cwd, roots } = place.folder;
  const { launcher, argv, env } = await prepareProgram(place, command, { cwd, network: false });
  const gitDir = worktreeGitDir(workspace);
  const { name, email } = found.identity;
  const config = readCommandConfig({
    argv,
    env: {
      ...env,
      GIT_DIR: gitDir,
      GIT_WORK_TREE: workspace.folder,
      GIT_INDEX_FILE: join(place.home, indexName),
      GIT_OBJECT_DIRECTORY: join(place.home, objectsName),
      GIT_ALTERNATE_OBJECT_DIRECTORIES: join(workspace.git_dir ?? "", "objects"),
      GIT_EDITOR: ":",
      GIT_TERMINAL_PROMPT: "0",
      GIT_AUTHOR_NAME: name,
      GIT_AUTHOR_EMAIL: email,
      GIT_COMMITTER_NAME: name,
      GIT_COMMITTER_EMAIL: email,
    },
    env_allow: [],
    workdir: cwd,
    timeout_ms: mostMinutes * 60_000,
  });
  return runCommand({ config, launcher, stdin: "", roots, offLimits: [] }, step);
}

/** A hook could have put a link in the place of the file. */
async function readMessage(file: string): Promise<string | undefined> {
  try {
    await using opened = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stats = await opened.stat();
    if (stats.size > mostMessageBytes || !stats.isFile()) return undefined;
    return (await opened.readFile()).toString("utf8").replaceAll("\0", "");
  } catch {
    return undefined;
  }
}

function said({ stdout, stderr }: CommandResult): string {
  const lines = `${stdout}\n${stderr}`.split("\n").filter((line) => line.trim() !== "");
  if (lines.length === 0) return "It said nothing.";
  return `It said: ${lines
    .slice(-mostLines)
    .map((line) => escapeInvisible(line.slice(0, 300)))
    .join(" | ")}`;
}
