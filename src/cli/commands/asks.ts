// `tutti asks`: shows everything that waits for an answer, whole: the command, the change of a file, or the call.
import type { Host } from "../../host/host.ts";
import { commandLine, withReader } from "../connect.ts";
import { pauseText } from "../pause-notice.ts";
import { findTask } from "../find-id.ts";
import { readOpenAsks } from "../open-asks.ts";
import { askedText } from "../terminal/question-text.ts";
import { note, standardOutput, widthOfScreen, writeJson, writeLine } from "../terminal/screen.ts";
import { whoAsks } from "../who-asks.ts";
import { bold, dim } from "../terminal/style.ts";
import { markOf } from "../terminal/task-tree.ts";
import { duration } from "../terminal/units.ts";

export interface AsksOptions {
  readonly state?: string;
  readonly json?: boolean;
}

export async function asksCommand(host: Host, given: string | undefined, options: AsksOptions): Promise<void> {
  await withReader(host, options, async (reader) => {
    const task = given === undefined ? undefined : await findTask(reader, given);
    const { asks, waits } = await readOpenAsks(reader, task);
    if (options.json === true) return writeJson({ asks, waits });
    const open = [...asks, ...waits];
    if (open.length === 0) return writeLine("nothing waits for an answer");
    const now = Date.now();
    for (const each of open) {
      const facts = dim(`${each.task}, ${duration(each.deadline - now)} left`);
      const view = { width: widthOfScreen(standardOutput) - 2, state: options.state, who: await whoAsks(reader, each) };
      await writeLine(`${markOf("input_required")} ${bold(each.id)}  ${facts}\n${below(askedText(each, view))}`);
    }
    if (await reader.paused()) await writeLine(pauseText(options.state));
    note(dim(`answer with \`${commandLine(options.state, "answer ASK TEXT")}\``));
  });
}

function below(text: string): string {
  return `  ${text.replaceAll("\n", "\n  ")}`;
}
