// `tutti asks`: lists what waits for an answer.
import type { Host } from "../../host/host.ts";
import { commandLine, withReader } from "../connect.ts";
import { pauseText } from "../pause-notice.ts";
import { findTask } from "../find-id.ts";
import { describeAsk, readOpenAsks } from "../open-asks.ts";
import { note, writeLine } from "../terminal/screen.ts";
import { dim } from "../terminal/style.ts";
import { writeTable } from "../terminal/table.ts";
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
    if (options.json === true) return writeLine(JSON.stringify({ asks, waits }));
    const open = [...asks, ...waits];
    if (open.length === 0) return writeLine("nothing waits for an answer");
    const now = Date.now();
    await writeTable(
      open.map((each) => ({
        mark: markOf("input_required"),
        cells: [each.id, describeAsk(each), `${duration(each.deadline - now)} left`, each.task],
      })),
    );
    if (await reader.paused()) await writeLine(pauseText(options.state));
    note(dim(`answer with \`${commandLine(options.state, "answer ASK TEXT")}\``));
  });
}
