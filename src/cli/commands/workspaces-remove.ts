// `tutti workspaces remove`: removes one workspace; its branch stays, and uncommitted work is lost only on request.
import type { Host } from "../../host/host.ts";
import { TuttiError } from "../../protocol/error.ts";
import { writeJson, writeLine } from "../terminal/screen.ts";
import { withWorkspaces, type WorkspacesOptions } from "../with-workspaces.ts";

export interface WorkspacesRemoveOptions extends WorkspacesOptions {
  readonly save?: boolean;
  readonly discard?: boolean;
}

export async function workspacesRemoveCommand(host: Host, id: string, options: WorkspacesRemoveOptions): Promise<void> {
  const { save = false, discard = false } = options;
  if (save && discard) throw new TuttiError("usage", "give --save or --discard, not both");
  const uncommitted = save ? "save" : discard ? "discard" : "refuse";
  await withWorkspaces(host, options, async (tutti) => {
    const removed = await tutti.removeWorkspace(id, { uncommitted });
    if (options.json === true) return writeJson(removed);
    const branch = removed.branch === null ? "" : `; its branch ${removed.branch} stays`;
    const saved = removed.saved === null ? "" : `; uncommitted work is kept in ${removed.saved}`;
    await writeLine(`${removed.id} is removed${branch}${saved}`);
  });
}
