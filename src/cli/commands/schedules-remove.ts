// `tutti schedules remove`: ends a schedule; what it started goes on.
import type { Host } from "../../host/host.ts";
import { TuttiError } from "../../protocol/error.ts";
import { writeJson, writeLine } from "../terminal/screen.ts";
import { withWorkspaces, type WorkspacesOptions } from "../with-workspaces.ts";

export type SchedulesRemoveOptions = WorkspacesOptions;

export async function schedulesRemoveCommand(
  host: Host,
  given: string,
  options: SchedulesRemoveOptions,
): Promise<void> {
  await withWorkspaces(host, options, async (tutti) => {
    const schedules = await tutti.schedules();
    const found =
      given === "last" ? schedules.slice(-1) : schedules.filter(({ id }) => id.startsWith(given) || id.endsWith(given));
    const [only, another] = found;
    if (only === undefined) throw new TuttiError("not_found", `there is no schedule ${given}; see \`tutti schedules\``);
    if (another !== undefined)
      throw new TuttiError("invalid_input", `${given} fits several schedules; write more of the id`);
    await tutti.removeSchedule(only.id);
    await (options.json === true
      ? writeJson({ removed: only.id })
      : writeLine(`${only.id} is removed; what it started goes on`));
  });
}
