// `tutti import`: moves a state folder into a database that nodes share.
import { resolve } from "node:path";

import type { Host } from "../../host/host.ts";
import { type DatabaseFlags, givenDatabase } from "../database-option.ts";
import { warn } from "../terminal/output.ts";
import { showMovedRows } from "../terminal/moved-rows.ts";
import { writeJson, writeLine } from "../terminal/screen.ts";
import { counted } from "../terminal/units.ts";

export interface ImportOptions extends DatabaseFlags {
  readonly json?: boolean;
}

export async function importCommand(host: Host, folder: string, options: ImportOptions): Promise<void> {
  const database = givenDatabase(options);
  const shown = showMovedRows();
  const moved = await host
    .importRecords(resolve(folder), database, (progress) => shown.tell(progress))
    .finally(() => shown.end());
  if (options.json === true) return writeJson(moved);
  for (const said of moved.notes) warn(said);
  if (moved.existed) return writeLine(`${folder} was moved into this database before; nothing was done`);
  const unfinished = moved.unfinished === 0 ? "" : `, ${moved.unfinished} of them unfinished`;
  await writeLine(
    `moved ${counted(moved.trees, "tree")}${unfinished} (${counted(moved.tasks, "task")}, ${counted(moved.rows, "row")}); they go on when a node starts: \`tutti up --database\``,
  );
}
