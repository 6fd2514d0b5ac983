// `tutti asks`: what waits for a person: questions, approvals, and calls of a client's own tools.
import type { Reader } from "../../client/client.ts";
import type { Host } from "../../host/host.ts";
import type { OpenAsk, OpenWait } from "../../protocol/api/task-shapes.ts";
import type { TaskId } from "../../protocol/ids.ts";
import { cut, sizeOf } from "../terminal/fit.ts";
import { dim, writeLine } from "../terminal/output.ts";
import { printable } from "../terminal/printable.ts";
import { commandLine, withReader } from "../connect.ts";
import { writeTable } from "../terminal/table.ts";
import { duration, markOf } from "../terminal/task-tree.ts";

export interface AsksOptions {
  readonly state?: string;
  readonly json?: boolean;
}

export async function asksCommand(host: Host, task: TaskId | undefined, options: AsksOptions): Promise<void> {
  await withReader(host, options, async (reader) => {
    const { asks, waits } = await openOf(reader, task);
    if (options.json === true) return writeLine(JSON.stringify({ asks, waits }));
    const open = [...asks, ...waits];
    if (open.length === 0) return writeLine("nothing is asked");
    const now = Date.now();
    await writeTable(
      open.map((each) => ({
        mark: markOf("input_required"),
        cells: [each.id, textOf(each), `${duration(each.deadline - now)} left`, each.task],
      })),
    );
    console.error(dim(`answer with \`${commandLine(options.state, "answer ASK TEXT")}\``));
  });
}

/** The questions, and the calls whose results are waited for; a line each. */
export async function openLines(reader: Reader): Promise<string[]> {
  const { asks, waits } = await openOf(reader);
  const lines = [...asks, ...waits].map(
    (each) => `${markOf("input_required")} ${each.id}  ${textOf(each)} ${dim(each.task)}`,
  );
  return process.stdout.isTTY === true ? lines.map((line) => cut(line, sizeOf(process.stdout).columns)) : lines;
}

export async function openOf(
  reader: Reader,
  task?: TaskId,
): Promise<{ readonly asks: readonly OpenAsk[]; readonly waits: readonly OpenWait[] }> {
  const [asks, waits] = await Promise.all([reader.asks(task), reader.waits(task)]);
  return { asks, waits };
}

function textOf(open: OpenAsk | OpenWait): string {
  return printable(plainText(open)).replaceAll(/\s+/g, " ");
}

function plainText(open: OpenAsk | OpenWait): string {
  if ("kind" in open) {
    const choices = open.choices === undefined ? "" : ` (${open.choices.join(" | ")})`;
    return `${open.kind}: ${open.question}${choices}`;
  }
  const { call, label } = open;
  return call === undefined ? label : `external tool: ${call.tool_name} ${JSON.stringify(call.input)}`;
}
