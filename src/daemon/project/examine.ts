// Looks at everything a project needs and says what is there, what is not, and what to do about it.

import { execFile } from "node:child_process";
import { accessSync, constants, existsSync, mkdtempSync, rmdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

import type { LoadedDefinitions } from "../../agent/definition/agent-folders.ts";
import type { Finding } from "../../host/project.ts";
import { toTuttiError } from "../../protocol/error.ts";
import { takeLock } from "../../store/sqlite/lock.ts";
import { type LoadedConfig, loadConfig } from "./project-config.ts";
import { databaseFindings } from "./examine-database.ts";
import { sandboxFinding } from "./examine-sandbox.ts";
import { modelsFindings } from "./examine-models.ts";
import { findDaemon } from "../lifecycle/find-daemon.ts";

const run = promisify(execFile);
const patienceMs = 5_000;
const neededNode = [24, 12] as const;

export interface Examined {
  readonly project: string;
  readonly state: string;
  readonly agents: () => Promise<LoadedDefinitions>;
}

/** Changes nothing but a lock it gives back, and a folder it makes and removes in the state folder. */
export async function examine({ project, state, agents }: Examined): Promise<Finding[]> {
  const { finding: config, loaded } = await configFinding(project);
  const definitions = await agents();
  return [
    nodeFinding(process.versions.node),
    await stateFinding(state),
    ...databaseFindings(state),
    config,
    ...(await modelsFindings(loaded?.config.models, definitions)),
    agentsFinding(definitions),
    await gitFinding(),
    await sandboxFinding(),
  ];
}

function nodeFinding(version: string): Finding {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [wantedMajor, wantedMinor] = neededNode;
  if (major > wantedMajor || (major === wantedMajor && minor >= wantedMinor)) {
    return { what: "node", state: "ok", said: version };
  }
  const wanted = neededNode.join(".");
  return { what: "node", state: "fail", said: version, todo: `install Node ${wanted} or newer`, code: "usage" };
}

async function stateFinding(folder: string): Promise<Finding> {
  const what = "state";
  if (!existsSync(folder)) {
    const above = nearest(folder);
    if (isWritable(above)) return { what, state: "ok", said: `${folder}, made when it is first needed` };
    const todo = "choose another folder with --state or $TUTTI_STATE";
    return { what, state: "fail", said: `${folder} cannot be made: ${above} is not writable`, todo, code: "read_only" };
  }
  try {
    rmdirSync(mkdtempSync(join(folder, "doctor-")));
  } catch (thrown) {
    const todo = "make it writable, or choose another with --state or $TUTTI_STATE";
    return { what, state: "fail", said: `cannot write in ${folder}: ${told(thrown)}`, todo, code: "read_only" };
  }
  try {
    takeLock(folder).release();
    return { what, state: "ok", said: `${folder}, writable and not in use` };
  } catch (thrown) {
    const error = toTuttiError(thrown);
    if (error.code === "locked") return usedFinding(folder, error.message);
    return { what, state: "fail", said: error.message, todo: "choose another folder with --state", code: error.code };
  }
}

/** A daemon that answers is as it should be. */
async function usedFinding(folder: string, inUse: string): Promise<Finding> {
  const what = "state";
  try {
    const daemon = await findDaemon(folder);
    if (daemon === undefined) return { what, state: "warn", said: inUse };
    return { what, state: "ok", said: `${folder}, worked on by the daemon at ${daemon.url}` };
  } catch (thrown) {
    return { what, state: "warn", said: toTuttiError(thrown).message };
  }
}

function nearest(folder: string): string {
  let above = dirname(folder);
  while (!existsSync(above) && above !== dirname(above)) above = dirname(above);
  return above;
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

async function configFinding(
  project: string,
): Promise<{ readonly finding: Finding; readonly loaded: LoadedConfig | undefined }> {
  const what = "config";
  try {
    const loaded = await loadConfig(project);
    const said = loaded.file ?? `none in ${project}; everything has a default`;
    return { finding: { what, state: "ok", said }, loaded };
  } catch (thrown) {
    const error = toTuttiError(thrown);
    const finding: Finding = { what, state: "fail", said: error.message, todo: "correct the file", code: error.code };
    return { finding, loaded: undefined };
  }
}

function agentsFinding({ agents, problems }: LoadedDefinitions): Finding {
  const what = "agents";
  const errors = problems.filter((problem) => problem.level === "error");
  const said = agents.length === 0 ? "none" : `${agents.length}: ${agents.map(({ name }) => name).join(", ")}`;
  if (errors.length > 0) {
    const first = errors[0];
    const where = first === undefined ? "" : ` ${first.file}:${first.line}: ${first.message}`;
    return { what, state: "warn", said: `${said}; ${errors.length} wrong:${where}`, todo: "see `tutti agents check`" };
  }
  if (agents.length === 0) return { what, state: "warn", said, todo: "make one with `tutti agents new NAME`" };
  return { what, state: "ok", said };
}

async function gitFinding(): Promise<Finding> {
  try {
    const { stdout } = await run("git", ["--version"], { timeout: patienceMs });
    return { what: "git", state: "ok", said: stdout.trim().replace(/^git version /, "") };
  } catch {
    return { what: "git", state: "warn", said: "not found", todo: "install git; workspaces and evidence need it" };
  }
}

function told(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
