// `tutti agents run`: runs one agent on one prompt, with a live transcript, and prints its result.
import type { Tutti } from "../../client/client.ts";
import type { Host } from "../../host/host.ts";
import type { PreparedRun, RunRequest } from "../../host/project.ts";
import { routePrompt } from "../../core/route-prompt.ts";
import { TuttiError } from "../../protocol/error.ts";
import { parseRunnerRef } from "../../protocol/invocation/runner-ref.ts";
import { readPolicy } from "../../protocol/routing/read-policy.ts";
import type { Effort } from "../../protocol/invocation/call-settings.ts";
import { TaskId, type ThreadId } from "../../protocol/ids.ts";
import { withDaemon, withTutti } from "../connect.ts";
import { findThread } from "../find-thread.ts";
import type { AnsweringOptions } from "../follow-run.ts";
import { givenFolder } from "../given-folder.ts";
import { checkKeyFor, warnOfMissingKey } from "../missing-keys.ts";
import { pauseText } from "../pause-notice.ts";
import { remoteRun } from "../remote/remote-run.ts";
import { readText } from "../input.ts";
import { printStarted } from "../print-started.ts";
import { showRun } from "../show-run.ts";
import { stateFolder } from "../state-folder.ts";
import { warn } from "../terminal/output.ts";
import { note } from "../terminal/screen.ts";
import { dim } from "../terminal/style.ts";
import { findWorkspaceTask, withWorkspaces } from "../with-workspaces.ts";

export interface AgentsRunOptions extends AnsweringOptions {
  readonly cwd?: string;
  readonly model?: string;
  readonly runner?: string;
  /** The file of a routing policy. */
  readonly policy?: string;
  /** Where the agent works. */
  readonly workspace?: "worktree" | "copy" | "shared";
  readonly withChanges?: boolean;
  /** Tasks whose work it builds on. */
  readonly after?: readonly string[];
  readonly effort?: Effort;
  readonly script?: string;
  /** The name of the thread that the prompt is said into. */
  readonly thread?: string;
  /** The thread to go on with; true for that of what the agent was asked last. */
  readonly continue?: string | true;
  readonly state?: string;
  readonly new?: boolean;
  readonly quiet?: boolean;
  readonly detach?: boolean;
  readonly json?: boolean;
  readonly limit: number;
}

export async function agentsRunCommand(
  host: Host,
  { name, prompt }: { readonly name: string; readonly prompt: string },
  options: AgentsRunOptions,
): Promise<void> {
  const script = options.script === undefined ? undefined : await readText(options.script, options.limit);
  const text = prompt === "-" ? await readText("-", options.limit) : prompt;
  // A program that reads JSON could take the built-in rehearsal for a result, so it gets an error.
  const rehearse = options.json !== true;
  const { model, runner, policy } = await chosenBy(options, text);
  const { effort } = options;
  const workspace = workspaceOf(options, await builtOn(host, options));
  const request = { agent: name, prompt: text, model, effort, runner, policy, workspace, script, rehearse };
  const run = await prepare(host, request, options);
  const { folder } = run;
  if (run.problem !== undefined) warn(run.problem);
  const start = { folder, anew: options.new === true };
  const checkKey = async (tutti: Tutti): Promise<void> => {
    if (run.rehearsal || folder === undefined || host.remote !== undefined) return;
    await checkKeyFor(run.model, tutti, { folder, state: options.state });
  };
  if (options.detach === true) {
    return withDaemon(host, options, async (tutti) => {
      await checkKey(tutti);
      const { task, existed, warnings } = await tutti.invoke(await said(tutti, run, name, options), start);
      for (const warning of warnings) warn(warning);
      await printStarted({ task, existed, url: tutti.url }, options);
      if (await tutti.paused()) warn(pauseText(options.state));
    });
  }
  await withTutti(host, { state: options.state, new: options.new }, async ({ tutti, isLocal, setTask }) => {
    if (!isLocal) await checkKey(tutti);
    const { task, existed, warnings } = await tutti.invoke(await said(tutti, run, name, options), start);
    setTask(task);
    for (const warning of warnings) warn(warning);
    if (options.json !== true) {
      const shown = run.rehearsal ? `${run.model}: a rehearsal, no model is called` : run.model;
      note(dim(`${task} ${shown}`));
    }
    if (existed) note(dim(`going on with ${task}, which was not finished; --new starts another`));
    const result = await showRun(tutti, {
      task,
      state: options.state,
      quiet: options.quiet,
      json: options.json,
      answering: options,
    });
    if (!isLocal && host.remote === undefined && result.status !== "completed") {
      await warnOfMissingKey(tutti, JSON.stringify(result), options.state);
    }
  });
}

/** The text of the run, with the thread that it is said into. */
async function said(
  tutti: Tutti,
  { text, folder }: ReadyRun,
  agent: string,
  { thread: name, continue: given }: AgentsRunOptions,
): Promise<string> {
  if (name !== undefined && given !== undefined) {
    throw new TuttiError("usage", "--thread and --continue both name a thread; leave one of them out");
  }
  if (given === true && folder === undefined) {
    throw new TuttiError("usage", "name the thread to go on with: --continue THREAD, or the folder with --cwd");
  }
  if (name === undefined && given === undefined) return text;
  const thread = name ?? (given === true ? await latest(tutti, agent, folder ?? "") : await named(tutti, given ?? ""));
  return JSON.stringify({ ...Object(JSON.parse(text)), thread });
}

async function latest(tutti: Tutti, agent: string, folder: string): Promise<ThreadId> {
  const { id, name, about } = await tutti.latestThread({ agent, folder });
  note(dim(`going on with ${name ?? id}: ${about}`));
  return id;
}

/** A thread that must be there; the name of one in this project goes before the same name elsewhere. */
async function named(tutti: Tutti, given: string): Promise<ThreadId> {
  if (TaskId.safeParse(given).success) return (await tutti.beginThread(given)).id;
  return (await findThread(tutti, given)).id;
}

interface ReadyRun extends PreparedRun {
  /** Where the agent works; undefined when the daemon elsewhere decides. */
  readonly folder: string | undefined;
}

/** A daemon elsewhere looks up the agent in its own folders; here, the definitions are sent as they are now. */
async function prepare(
  host: Host,
  request: Omit<RunRequest, "folder">,
  { cwd, state }: AgentsRunOptions,
): Promise<ReadyRun> {
  if (host.remote !== undefined) return { ...remoteRun(request, cwd), folder: cwd };
  const folder = givenFolder(cwd);
  const project = await host.openProject(folder, { state: stateFolder(state) });
  return { ...(await project.prepareRun({ ...request, folder })), folder };
}

/** The tasks that really have the work: an invocation stands for the task below it that has a workspace. */
async function builtOn(host: Host, { after = [], state }: AgentsRunOptions): Promise<TaskId[]> {
  const tasks: TaskId[] = [];
  if (after.length === 0) return tasks;
  await withWorkspaces(host, state === undefined ? {} : { state }, async (tutti) => {
    for (const given of after) {
      const { task, mode } = await tutti.taskWorkspace(await findWorkspaceTask(tutti, given));
      if (mode !== "worktree")
        throw new TuttiError("usage", `${task} has no branch to build on: its work is a ${mode}`);
      tasks.push(task);
    }
  });
  return tasks;
}

type Chosen = Pick<RunRequest, "model" | "runner" | "policy">;

/** Who does the work: by a policy if there is one, otherwise what the options say; what they leave open, the agent decides. */
async function chosenBy(options: AgentsRunOptions, prompt: string): Promise<Chosen> {
  const { model, policy: file, limit } = options;
  const ref = options.runner === "auto" ? undefined : options.runner;
  if (file === undefined) {
    return { model, runner: ref === undefined ? undefined : parseRunnerRef(ref) };
  }
  if (model !== undefined || ref !== undefined) {
    throw new TuttiError("usage", "--policy chooses the model or the runner; leave --model and --runner out");
  }
  const policy = { file, text: await readText(file, limit) };
  const read = readPolicy(policy.text);
  for (const warning of read.warnings) warn(`${file}: ${warning}`);
  if (!read.ok) throw new TuttiError(read.error.code, `${file}: ${read.error.message}`, { cause: read.error });
  const routed = routePrompt(read.value, prompt);
  const { decision } = routed;
  note(dim(`${decision.model} by ${file}: ${decision.reason} (${decision.matched_by})`));
  return { model: routed.model, runner: routed.runner, policy };
}

function workspaceOf({ workspace: mode, withChanges }: AgentsRunOptions, after: readonly TaskId[]): object | undefined {
  if (mode === undefined && withChanges !== true && after.length === 0) return undefined;
  if (after.length > 0 && (withChanges === true || (mode ?? "worktree") !== "worktree")) {
    throw new TuttiError("usage", "work that builds on other tasks begins in a worktree with their branches alone");
  }
  return {
    ...(mode === undefined ? {} : { mode }),
    ...(withChanges === true ? { with_changes: true } : {}),
    ...(after.length === 0 ? {} : { after: [...after] }),
  };
}
