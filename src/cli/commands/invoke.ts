// `tutti invoke`: runs an invocation, shows its progress, asks the person what has to be asked, and prints the result.
import type { Tutti } from "../../client/client.ts";
import type { Host } from "../../host/host.ts";
import type { Started } from "../../protocol/api/task-shapes.ts";
import { errorTable, TuttiError } from "../../protocol/error.ts";
import { readInvocationFile } from "../../protocol/invocation/invocation-file.ts";
import { readWrittenJson } from "../../protocol/json/written-json.ts";
import { describeIssues } from "../../protocol/lenient-read.ts";
import { withDaemon, withTutti } from "../connect.ts";
import { type AnsweringOptions, followRun } from "../follow-run.ts";
import { givenFolder } from "../given-folder.ts";
import { warnOfMissingKey } from "../missing-keys.ts";
import { pauseText } from "../pause-notice.ts";
import { makeSchedule } from "../make-schedule.ts";
import { printStarted } from "../print-started.ts";
import { readText } from "../input.ts";
import { warn } from "../terminal/output.ts";
import { note, writeJson, writeLine } from "../terminal/screen.ts";
import { dim } from "../terminal/style.ts";
import { showProgress } from "../terminal/progress.ts";
import { totalsLine } from "../terminal/run-cost.ts";
import { resultLines, succeeded } from "../terminal/result-lines.ts";
import type { FinishedTree } from "../terminal/watch-task.ts";

export interface InvokeOptions extends AnsweringOptions {
  readonly state?: string;
  readonly cwd?: string;
  readonly json?: boolean;
  readonly new?: boolean;
  readonly detach?: boolean;
  readonly every?: string;
  readonly catchUp?: boolean;
  readonly label?: readonly string[];
  readonly quiet?: boolean;
  readonly limit: number;
}

export async function invokeCommand(host: Host, file: string, options: InvokeOptions): Promise<void> {
  const text = withLabels(await readText(file, options.limit), options.label ?? []);
  if (host.remote === undefined) givenFolder(options.cwd);
  if (options.every !== undefined) return schedule(host, text, { file, every: options.every, options });
  if (options.catchUp === true) throw new TuttiError("usage", "--catch-up is for --every");
  if (options.detach === true) return invokeDetached(host, text, options);
  await withTutti(host, options, async ({ tutti, isLocal, setTask }) => {
    const { task, existed } = await start(tutti, text, startOptions(host, options));
    setTask(task);
    if (existed) note(dim(`going on with ${task}, which was not finished; --new starts another`));
    const quiet = options.quiet === true || options.json === true;
    const display = quiet ? undefined : showProgress();
    const finished = await followRun(tutti, { task, display, live: false, state: options.state, answering: options });
    await print(finished, options);
    if (!isLocal && !succeeded(finished.result)) {
      await warnOfMissingKey(tutti, JSON.stringify(finished.result), options.state);
    }
  });
}

async function start(tutti: Tutti, text: string, options: Parameters<Tutti["invoke"]>[1]): Promise<Started> {
  const started = await tutti.invoke(text, options);
  for (const warning of started.warnings) warn(warning);
  return started;
}

/** The current folder says nothing to a daemon elsewhere: without `--cwd`, paths in the invocation are absolute there. */
function startOptions(host: Host, options: InvokeOptions): { readonly folder?: string; readonly anew: boolean } {
  const folder = host.remote === undefined ? givenFolder(options.cwd) : options.cwd;
  return { ...(folder === undefined ? {} : { folder }), anew: options.new === true };
}

async function invokeDetached(host: Host, text: string, options: InvokeOptions): Promise<void> {
  // Before a daemon is started for it.
  mustBeInvocation(text);
  await withDaemon(host, options, async (tutti) => {
    const { task, existed } = await start(tutti, text, startOptions(host, options));
    await printStarted({ task, existed, url: tutti.url }, options);
    if (await tutti.paused()) warn(pauseText(options.state));
  });
}

async function schedule(
  host: Host,
  text: string,
  { file, every, options }: { readonly file: string; readonly every: string; readonly options: InvokeOptions },
): Promise<void> {
  // Before a daemon is started for it.
  mustBeInvocation(text);
  const { folder } = startOptions(host, options);
  if (folder === undefined)
    throw new TuttiError("usage", "say with --cwd where the daemon elsewhere is to do the work");
  const work = { invocation: text };
  const about = file === "-" ? "an invocation" : file.slice(-200);
  await makeSchedule(host, { cron: every, work, folder, about, catch_up: options.catchUp === true }, options);
}

/** Labels stand beside the invocation. What cannot be read is left as it is, and refused later. */
function withLabels(text: string, labels: readonly string[]): string {
  const reading = labels.length === 0 ? undefined : readWrittenJson(text);
  const value = reading?.ok === true ? reading.value : undefined;
  if (typeof value !== "object" || value === null) return text;
  return JSON.stringify({ ...("invocation" in value ? value : { invocation: value }), labels });
}

function mustBeInvocation(text: string): void {
  const reading = readInvocationFile(text);
  if (reading.ok) return;
  throw new TuttiError("invalid_input", `the invocation cannot be used: ${describeIssues(reading.issues)}`);
}

async function print(finished: FinishedTree, options: InvokeOptions): Promise<void> {
  const { tree, result } = finished;
  if (options.json === true) {
    const { status, content } = result;
    await writeJson({ task: tree.task, status, result: content, rehearsal: tree.rehearsal });
  } else {
    for (const line of resultLines(tree, result)) await writeLine(line);
    if (options.quiet !== true) note(dim(totalsLine(tree, Date.now())));
  }
  if (!succeeded(result)) process.exitCode = errorTable.task_failed.exit;
}
