// `tutti workspaces`: lists the folders in which sessions work, with their size, their branch and what is left in them.
import type { Host } from "../../host/host.ts";
import { warn } from "../terminal/output.ts";
import { printableName } from "../terminal/printable.ts";
import { note, writeJson, writeLine } from "../terminal/screen.ts";
import { dim } from "../terminal/style.ts";
import { writeTable } from "../terminal/table.ts";
import { age, counted, size } from "../terminal/units.ts";
import { withWorkspaces, type WorkspacesOptions } from "../with-workspaces.ts";

export async function workspacesCommand(host: Host, options: WorkspacesOptions): Promise<void> {
  await withWorkspaces(host, options, async (tutti) => {
    const { workspaces, leftovers } = await tutti.workspaces();
    if (options.json === true) return writeJson({ workspaces, leftovers });
    const now = Date.now();
    const rows = workspaces.map(({ id, state, bytes, branch, mode, task_status, created_at }) => ({
      cells: [id, state, size(bytes), branch ?? mode, task_status ?? "task is gone", age(now - created_at)],
    }));
    if (rows.length === 0) await writeLine("there are no workspaces");
    else await writeTable(rows, ["id", "state", "size", "branch", "task", "made"]);
    for (const { id, problem } of workspaces) if (problem !== null) warn(`${id}: ${problem}`);
    for (const { path, reason } of leftovers) warn(`${printableName(path)} is left alone: ${reason}`);
    const total = workspaces.reduce((sum, { bytes }) => sum + bytes, 0);
    if (rows.length > 0) note(dim(`${counted(rows.length, "workspace")}, ${size(total)}`));
  });
}
