// `tutti threads`: lists the conversations that go on after their tasks, the one that something was said in last first.
import type { Host } from "../../host/host.ts";
import { commandLine, withReader } from "../connect.ts";
import { note, writeJson, writeLine } from "../terminal/screen.ts";
import { dim } from "../terminal/style.ts";
import { writeTable } from "../terminal/table.ts";
import { localTime } from "../terminal/units.ts";

export interface ThreadsOptions {
  readonly state?: string;
  readonly json?: boolean;
  /** The most threads that are listed. */
  readonly limit?: number;
}

const usualLimit = 50;

export async function threadsCommand(host: Host, options: ThreadsOptions): Promise<void> {
  await withReader(host, options, async (reader) => {
    const { threads, next } = await reader.threads({ limit: options.limit ?? usualLimit });
    if (options.json === true) {
      for (const thread of threads) await writeJson(thread);
      return;
    }
    if (threads.length === 0) {
      await writeLine("there are no threads; `tutti agents run AGENT PROMPT --thread NAME` begins one");
      return;
    }
    const rows = threads.map(({ id, name, kind, tasks, said_at, last, about }) => ({
      cells: [
        id,
        name ?? (kind === "manager" ? "(manager)" : "-"),
        String(tasks),
        localTime(said_at),
        last?.status ?? "",
        about,
      ],
    }));
    await writeTable(rows, ["id", "name", "tasks", "said", "last task", "begins with"]);
    if (next !== null) note(dim(`there are more: ${commandLine(options.state, "threads --limit 200")}`));
  });
}
