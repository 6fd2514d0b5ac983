// `tutti schedules`: lists what is started again and again, with the next time of each.
import type { Host } from "../../host/host.ts";
import { writeJson, writeLine } from "../terminal/screen.ts";
import { writeTable } from "../terminal/table.ts";
import { localTime } from "../terminal/units.ts";
import { withWorkspaces, type WorkspacesOptions } from "../with-workspaces.ts";

export async function schedulesCommand(host: Host, options: WorkspacesOptions): Promise<void> {
  await withWorkspaces(host, options, async (tutti) => {
    const schedules = await tutti.schedules();
    if (options.json === true) return writeJson({ schedules });
    if (schedules.length === 0) return writeLine("there are no schedules");
    const rows = schedules.map(({ id, cron, next_at, about, folder }) => ({
      cells: [id, cron, localTime(next_at), about, folder],
    }));
    await writeTable(rows, ["id", "every", "next", "starts", "in"]);
  });
}
