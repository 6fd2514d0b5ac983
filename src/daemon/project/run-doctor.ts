// Runs the checks of `tutti doctor`: what a project needs, whether it is there, and what to do when it is not.

import { execFile } from "node:child_process";
import { accessSync, constants, existsSync, mkdtempSync, rmdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

import type { LoadedDefinitions } from "../../agent/definition/agent-folders.ts";
import { accountKinds } from "../../core/account.ts";
import { amountText } from "../../core/day-question.ts";
import type { Finding } from "../../host/project.ts";
import { ownEnvironment } from "../../files/own-environment.ts";
import { toTuttiError } from "../../protocol/error.ts";
import { takeLock } from "../../store/sqlite/lock.ts";
import { keySources } from "../secrets/provider-keys.ts";
import { heldAgents } from "./agent-failures.ts";
import { checkCodingAgents, heldFinding } from "./check-coding-agents.ts";
import { checkDatabase } from "./check-database.ts";
import { checkModels } from "./check-models.ts";
import { checkPolicyModels } from "./check-policy-models.ts";
import { checkSandbox } from "./check-sandbox.ts";
import { type EffectiveConfig, effectiveConfig } from "./effective-config.ts";
import { dayLimitsOf } from "./limits-config.ts";
import { findPolicyFile, isPolicyTrusted } from "./project-policy.ts";
import { checkServers } from "./server-views.ts";
import { ignoredNotifications } from "./load-runtime.ts";

const run = promisify(execFile);
const gitTimeoutMs = 5_000;
const requiredNode = [24, 12] as const;

type DaemonAt = NonNullable<DoctorSubject["daemonAt"]>;

export interface DoctorSubject {
  readonly project: string;
  readonly state: string;
  readonly agents: () => Promise<LoadedDefinitions>;
  /** Finds the address of the daemon that works on a state folder, if one does and answers. Absent: it is not looked for. */
  readonly daemonAt?: ((state: string) => Promise<string | undefined>) | undefined;
}

/** Leaves nothing behind: it only takes and releases the lock of the state folder, and creates and removes a folder in it. */
export async function runDoctor({
  project,
  state,
  agents,
  daemonAt = async () => undefined,
}: DoctorSubject): Promise<Finding[]> {
  const { findings: config, loaded } = await checkConfig(project, state);
  const definitions = await agents();
  return [
    checkNode(process.versions.node),
    await checkState(state, daemonAt),
    ...checkDatabase(state),
    ...config,
    ...describeDay(loaded),
    ...(await checkModels(loaded?.models, keySources(state), definitions)),
    checkAgents(definitions),
    ...(await checkPolicy(project, state)),
    ...(await checkServers({ project, state, agents })),
    await checkGit(),
    await checkSandbox(),
    ...(loaded === undefined ? [] : [await checkCodingAgents(loaded.profiles)]),
    ...heldAgents(state).map(heldFinding),
  ];
}

/** Nothing when the user's config has no cap: that is as good. */
function describeDay(loaded: EffectiveConfig | undefined): Finding[] {
  const caps = dayLimitsOf(loaded?.limits ?? {});
  const said = accountKinds.flatMap((kind) => {
    const cap = caps[kind];
    return cap === undefined ? [] : [amountText(kind, cap)];
  });
  return said.length === 0 ? [] : [{ what: "limits", state: "ok", said: `${said.join(" and ")} a day, over all work` }];
}

function checkNode(version: string): Finding {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [requiredMajor, requiredMinor] = requiredNode;
  if (major > requiredMajor || (major === requiredMajor && minor >= requiredMinor)) {
    return { what: "node", state: "ok", said: version };
  }
  const required = requiredNode.join(".");
  return { what: "node", state: "fail", said: version, todo: `install Node ${required} or newer`, code: "usage" };
}

async function checkState(folder: string, daemonAt: DaemonAt): Promise<Finding> {
  const what = "state";
  if (!existsSync(folder)) {
    const parent = nearestExisting(folder);
    if (isWritable(parent)) return { what, state: "ok", said: `${folder}, created when it is first needed` };
    const said = `${folder} cannot be created: ${parent} is not writable`;
    const todo = "choose another folder with --state or $TUTTI_STATE";
    return { what, state: "fail", said, todo, code: "read_only" };
  }
  try {
    rmdirSync(mkdtempSync(join(folder, "doctor-")));
  } catch (thrown) {
    const said = `cannot write in ${folder}: ${thrown instanceof Error ? thrown.message : String(thrown)}`;
    const todo = "make it writable, or choose another with --state or $TUTTI_STATE";
    return { what, state: "fail", said, todo, code: "read_only" };
  }
  try {
    takeLock(folder).release();
    return { what, state: "ok", said: `${folder}, writable and not in use` };
  } catch (thrown) {
    const error = toTuttiError(thrown);
    if (error.code === "locked") return checkLockOwner({ folder, daemonAt }, error.message);
    return { what, state: "fail", said: error.message, todo: "choose another folder with --state", code: error.code };
  }
}

/** A state folder in use is fine when a daemon uses it and answers. */
async function checkLockOwner(
  { folder, daemonAt }: { readonly folder: string; readonly daemonAt: DaemonAt },
  locked: string,
): Promise<Finding> {
  const what = "state";
  try {
    const url = await daemonAt(folder);
    if (url === undefined) return { what, state: "warn", said: locked };
    return { what, state: "ok", said: `${folder}, worked on by the daemon at ${url}` };
  } catch (thrown) {
    return { what, state: "warn", said: toTuttiError(thrown).message };
  }
}

function nearestExisting(folder: string): string {
  let parent = dirname(folder);
  while (!existsSync(parent) && parent !== dirname(parent)) parent = dirname(parent);
  return parent;
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** A config that is not trusted is not executed to look at it. */
async function checkConfig(
  project: string,
  state: string,
): Promise<{ readonly findings: Finding[]; readonly loaded: EffectiveConfig | undefined }> {
  const what = "config";
  try {
    const loaded = await effectiveConfig(project, state);
    const { file, own, problem } = loaded;
    if (problem !== undefined) {
      return { findings: [{ what, state: "warn", said: problem, todo: "see `tutti trust --show`" }], loaded };
    }
    const findings: Finding[] = [{ what, state: "ok", said: file ?? `none in ${project}; everything has a default` }];
    if (own?.notifications !== undefined) findings.push({ what, state: "warn", said: ignoredNotifications(file) });
    return { findings, loaded };
  } catch (thrown) {
    const error = toTuttiError(thrown);
    const finding: Finding = { what, state: "fail", said: error.message, todo: "correct the file", code: error.code };
    return { findings: [finding], loaded: undefined };
  }
}

function checkAgents({ agents, problems }: LoadedDefinitions): Finding {
  const what = "agents";
  const errors = problems.filter((problem) => problem.level === "error");
  const listed = agents.length === 0 ? "none" : `${agents.length}: ${agents.map(({ name }) => name).join(", ")}`;
  const [first] = errors;
  if (first !== undefined) {
    const said = `${listed}; ${errors.length} wrong: ${first.file}:${first.line}: ${first.message}`;
    return { what, state: "warn", said, todo: "see `tutti agents check`" };
  }
  if (agents.length === 0) return { what, state: "warn", said: listed, todo: "make one with `tutti agents new NAME`" };
  return { what, state: "ok", said: listed };
}

/** No finding without a policy file: a policy is then made from the models that can be called. */
async function checkPolicy(project: string, state: string): Promise<Finding[]> {
  const what = "policy";
  const todo = "see `tutti policy check`";
  try {
    const found = findPolicyFile(project);
    if (found === undefined) return [];
    const { file } = found;
    if (!isPolicyTrusted(found, state)) {
      return [{ what, state: "warn", said: `${file} is not trusted as it is now`, todo: "see `tutti trust --show`" }];
    }
    const { ok } = await checkPolicyModels(found, { project, state });
    if (ok) return [{ what, state: "ok", said: file }];
    return [{ what, state: "warn", said: `${file} cannot be used, or names a model that cannot run here`, todo }];
  } catch (thrown) {
    return [{ what, state: "warn", said: toTuttiError(thrown).message, todo }];
  }
}

async function checkGit(): Promise<Finding> {
  try {
    const { stdout } = await run("git", ["--version"], { timeout: gitTimeoutMs, env: ownEnvironment() });
    return { what: "git", state: "ok", said: stdout.trim().replace(/^git version /, "") };
  } catch {
    return { what: "git", state: "warn", said: "not found", todo: "install git; workspaces and evidence need it" };
  }
}
