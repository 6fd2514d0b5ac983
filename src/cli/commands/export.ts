// `tutti export`: prints a task and all below it as JSON lines, or moves a database that nodes shared into a state folder.
import { resolve } from "node:path";

import type { Host } from "../../host/host.ts";
import { allEvents } from "../all-events.ts";
import { withReader } from "../connect.ts";
import { type DatabaseFlags, givenDatabase } from "../database-option.ts";
import { findTask } from "../find-id.ts";
import { warn } from "../terminal/output.ts";
import { showMovedRows } from "../terminal/moved-rows.ts";
import { writeJson, writeLine } from "../terminal/screen.ts";
import { counted } from "../terminal/units.ts";

export interface ExportOptions extends DatabaseFlags {
  readonly state?: string;
  readonly json?: boolean;
}

export async function exportCommand(host: Host, given: string, options: ExportOptions): Promise<void> {
  if (options.database !== undefined) return exportDatabase(host, given, options);
  await withReader(host, options, async (reader) => {
    const task = await findTask(reader, given);
    for (const view of await reader.tree(task)) await writeJson({ record: "task", ...view });
    for await (const event of allEvents(reader, task)) await writeJson({ record: "event", ...event });
  });
}

async function exportDatabase(host: Host, folder: string, options: ExportOptions): Promise<void> {
  const database = givenDatabase(options);
  const shown = showMovedRows();
  const moved = await host
    .exportRecords(resolve(folder), database, (progress) => shown.tell(progress))
    .finally(() => shown.end());
  if (options.json === true) return writeJson(moved);
  for (const said of moved.notes) warn(said);
  if (moved.existed) return writeLine(`this database was moved into ${folder} before; nothing was done`);
  const unfinished = moved.unfinished === 0 ? "" : `, ${moved.unfinished} of them unfinished`;
  await writeLine(
    `moved ${counted(moved.trees, "tree")}${unfinished} (${counted(moved.tasks, "task")}) into ${folder}; they go on with \`tutti up --state ${folder}\`, and no node starts on the database any more`,
  );
}
