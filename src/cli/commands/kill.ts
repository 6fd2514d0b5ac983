// `tutti kill`: ends a task and all below it at once, and removes their workspaces without losing work.
import type { Host } from "../../host/host.ts";
import { tellBeforeEnd } from "../endings.ts";
import { findTask } from "../find-id.ts";
import { person } from "../submit-answer.ts";
import { note, writeJson, writeLine } from "../terminal/screen.ts";
import { dim } from "../terminal/style.ts";
import { counted } from "../terminal/units.ts";
import { withWorkspaces } from "../with-workspaces.ts";

export interface KillOptions {
  readonly state?: string;
  readonly json?: boolean;
  readonly reason?: string;
}

/** Starts no daemon: that would resume the task. */
export async function killCommand(host: Host, given: string, options: KillOptions): Promise<void> {
  const { json, reason = `killed by ${person().name}` } = options;
  await withWorkspaces(host, options, async (tutti) => {
    const named = await findTask(tutti, given);
    const what = "at once and for good; workspaces are removed, and work that is not committed is saved first";
    await tellBeforeEnd(tutti, named, { verb: "killing", what, json });
    const killed = await tutti.killTask(named, reason);
    if (json === true) return writeJson(killed);
    const { task, canceled, workspaces } = killed;
    await writeLine(
      canceled.length === 0
        ? `${task} is over; there was nothing to end`
        : `killed ${counted(canceled.length, "task")}: ${task}${canceled.length > 1 ? " and all below it" : ""}`,
    );
    for (const { id, removed, branch, saved, kept_reason } of workspaces) {
      if (!removed) await writeLine(`the workspace ${id} stays: ${kept_reason ?? "it could not be removed"}`);
      else await writeLine(`the workspace ${id} is removed${branch === null ? "" : `; its work is on ${branch}`}`);
      if (saved !== null) note(dim(`uncommitted work of ${id} was saved: ${saved}`));
    }
  });
}
