// `tutti agents run`: runs one agent on one prompt, with a live transcript, and prints its result.
import type { Host } from "../../host/host.ts";
import type { PreparedRun, RunRequest } from "../../host/project.ts";
import { errorTable } from "../../protocol/error.ts";
import { type AgentResult, InvocationResult } from "../../protocol/invocation/invocation-result.ts";
import { withTutti } from "../connect.ts";
import { followRun } from "../follow-run.ts";
import { givenFolder } from "../given-folder.ts";
import { checkKeyFor, warnOfMissingKey } from "../missing-keys.ts";
import { remoteRun } from "../remote/remote-run.ts";
import { readText } from "../input.ts";
import { warn } from "../terminal/output.ts";
import { note, writeExactLine, writeLine } from "../terminal/screen.ts";
import { dim } from "../terminal/style.ts";
import { type RunCost, runCost } from "../terminal/run-cost.ts";
import { markOf } from "../terminal/task-tree.ts";
import { showTranscript } from "../terminal/transcript.ts";
import { duration, money } from "../terminal/units.ts";
import { stateFolder } from "../state-folder.ts";
import { resultText } from "../terminal/value-text.ts";

export interface AgentsRunOptions {
  readonly cwd?: string;
  readonly model?: string;
  readonly script?: string;
  readonly state?: string;
  readonly new?: boolean;
  readonly quiet?: boolean;
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
  const run = await prepare(host, { agent: name, prompt: text, model: options.model, script, rehearse }, options);
  const { folder } = run;
  if (run.problem !== undefined) warn(run.problem);
  await withTutti(host, { state: options.state }, async ({ tutti, isLocal, setTask }) => {
    if (!isLocal && !run.rehearsal && folder !== undefined && host.remote === undefined) {
      await checkKeyFor(run.model, tutti, { folder, state: options.state });
    }
    const { task, existed, warnings } = await tutti.invoke(run.text, { folder, anew: options.new === true });
    setTask(task);
    for (const warning of warnings) warn(warning);
    if (options.json !== true) {
      const model = run.rehearsal ? `${run.model}: a rehearsal, no model is called` : run.model;
      note(dim(`${task} ${model}`));
    }
    if (existed) note(dim(`going on with ${task}, which was not finished; --new starts another`));
    const quiet = options.quiet === true || options.json === true;
    const display = quiet ? undefined : showTranscript(task);
    const { tree, result } = await followRun(tutti, { task, display, live: !quiet, state: options.state });
    const outcome = agentResult(result);
    await print(outcome, { task, cost: runCost(tree), options });
    if (!isLocal && host.remote === undefined && outcome.status !== "completed")
      await warnOfMissingKey(tutti, JSON.stringify(result), options.state);
  });
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

/** The agent's own result, or that of the invocation when the agent could not be started. */
function agentResult(result: AgentResult): AgentResult {
  const parsed = InvocationResult.safeParse(result.content);
  return parsed.success && parsed.data.kind === "scalar" ? parsed.data.result : result;
}

interface Finished {
  readonly task: string;
  readonly cost: RunCost;
  readonly options: AgentsRunOptions;
}

async function print({ status, content }: AgentResult, { task, cost, options }: Finished): Promise<void> {
  const ok = status === "completed";
  if (!ok) process.exitCode = errorTable.task_failed.exit;
  if (options.json === true) return writeLine(JSON.stringify({ task, status, result: content, ...cost }));
  const text = resultText(content, { indent: 2 });
  // A file or another program gets every byte of the result.
  if (ok) await writeExactLine(text);
  else note(`${markOf(status)} ${text}`);
  if (options.quiet !== true) note(dim(costLine(cost)));
  if (cost.rehearsal) note(dim("rehearsal: a script was played, no model was called"));
}

function costLine({ ms, tokens, money_micro_usd, unpriced }: RunCost): string {
  return [
    duration(ms),
    `${tokens} tokens`,
    ...(money_micro_usd > 0 ? [money(money_micro_usd)] : []),
    ...(unpriced ? ["and calls whose price is not known"] : []),
  ].join(", ");
}
