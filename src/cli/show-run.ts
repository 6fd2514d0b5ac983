// Shows a run as a live transcript until it ends, and then prints its result once.
import type { Reader, Tutti } from "../client/client.ts";
import { partlyRehearsed } from "../core/render-report.ts";
import { errorTable } from "../protocol/error.ts";
import type { TaskId } from "../protocol/ids.ts";
import type { AgentResult } from "../protocol/invocation/invocation-result.ts";
import { type AnsweringOptions, followRun } from "./follow-run.ts";
import type { Revive } from "./revive-daemon.ts";
import { markdownLines } from "./terminal/markdown.ts";
import { onlyResult, resultLines, succeeded } from "./terminal/result-lines.ts";
import { type RunCost, runCost } from "./terminal/run-cost.ts";
import {
  note,
  standardError,
  standardOutput,
  widthOfScreen,
  writeExactLine,
  writeJson,
  writeLine,
} from "./terminal/screen.ts";
import { dim } from "./terminal/style.ts";
import { markOf } from "./terminal/task-tree.ts";
import { showTranscript, type Transcript } from "./terminal/transcript.ts";
import { duration, money } from "./terminal/units.ts";
import { resultText } from "./terminal/value-text.ts";
import { type FinishedTree, watchTask } from "./terminal/watch-task.ts";
import { wrapped } from "./terminal/wrap.ts";

export interface ShowRunOptions {
  /** The root of the tree. */
  readonly task: TaskId;
  readonly state: string | undefined;
  readonly quiet?: boolean | undefined;
  readonly json?: boolean | undefined;
  /** The transcript begins with this event; absent: with the first. */
  readonly from?: number | undefined;
  readonly answering?: AnsweringOptions | undefined;
  readonly revive?: Revive | undefined;
}

/** Questions are put to the person. Returns the result: of an invocation with one target, that of the target. */
export async function showRun(tutti: Tutti, options: ShowRunOptions): Promise<AgentResult> {
  const { task, state, answering, revive } = options;
  const display = transcriptFor(options, { showsAsks: false });
  const live = display !== undefined && standardError.isTerminal;
  const finished = await followRun(tutti, { task, display, live, state, answering, revive });
  await print(finished, { display, options });
  return onlyResult(finished.result) ?? finished.result;
}

/** Of a run that is over, so nothing is asked. */
export async function showFinishedRun(reader: Reader, options: ShowRunOptions): Promise<void> {
  const display = transcriptFor(options, { showsAsks: true });
  const listeners = display === undefined ? [] : [display.update];
  const finished = await watchTask(reader, { task: options.task, live: false }, listeners);
  display?.stop();
  await print(finished, { display, options });
}

function transcriptFor(
  { task, quiet, json, from }: ShowRunOptions,
  { showsAsks }: { readonly showsAsks: boolean },
): Transcript | undefined {
  if (quiet === true || json === true) return undefined;
  return showTranscript(task, { showsAsks, ...(from === undefined ? {} : { from }) });
}

interface Shown {
  readonly display: Transcript | undefined;
  readonly options: ShowRunOptions;
}

async function print({ tree, result }: FinishedTree, { display, options }: Shown): Promise<void> {
  if (!succeeded(result)) process.exitCode = errorTable.task_failed.exit;
  const cost = runCost(tree);
  const only = onlyResult(result);
  if (options.json === true) {
    const { status, content } = only ?? result;
    return writeJson({ task: options.task, status, result: content, ...cost });
  }
  if (only === undefined) for (const line of resultLines(tree, result)) await writeLine(line);
  else await printResult(only, display);
  const totals = [
    ...(options.quiet === true ? [] : [costLine(cost)]),
    ...(cost.rehearsal ? [cost.called ? partlyRehearsed : "rehearsal: a script was played, no model was called"] : []),
  ];
  if (totals.length > 0) note(dim(totals.join("; ")));
}

/** On a terminal the answer stands in the transcript already; a file or another program gets every byte of it. */
async function printResult({ status, content }: AgentResult, display: Transcript | undefined): Promise<void> {
  const text = resultText(content, { indent: 2 });
  const width = widthOfScreen(standardError);
  if (status !== "completed") return note(wrapped(`${markOf(status)} ${text}`, { width, hang: 2 }));
  if (!standardOutput.isTerminal) return writeExactLine(text);
  if (standardError.isTerminal && display?.endsWith(text) === true) return;
  const lines =
    typeof content === "string" ? markdownLines(text, { width: standardOutput.columns, indent: 0 }) : [text];
  await writeLine(lines.join("\n"));
}

function costLine({ ms, tokens, money_micro_usd, unpriced }: RunCost): string {
  return [
    duration(ms),
    `${tokens} tokens`,
    ...(money_micro_usd > 0 ? [money(money_micro_usd)] : []),
    ...(unpriced ? ["and calls whose price is not known"] : []),
  ].join(", ");
}
