// `tutti workspaces prune`: removes workspaces by age and size. Work is never lost by it.
import type { Host } from "../../host/host.ts";
import { parseAge } from "../parse-age.ts";
import { parseSize } from "../parse-size.ts";
import { warn } from "../terminal/output.ts";
import { writeJson, writeLine } from "../terminal/screen.ts";
import { writeTable } from "../terminal/table.ts";
import { counted, size } from "../terminal/units.ts";
import { withWorkspaces, type WorkspacesOptions } from "../with-workspaces.ts";

export interface WorkspacesPruneOptions extends WorkspacesOptions {
  readonly olderThan?: string;
  readonly maxSize?: string;
  readonly dryRun?: boolean;
}

export async function workspacesPruneCommand(host: Host, options: WorkspacesPruneOptions): Promise<void> {
  const limits = {
    ...(options.olderThan === undefined ? {} : { older_than_ms: parseAge(options.olderThan) }),
    ...(options.maxSize === undefined ? {} : { max_bytes: parseSize(options.maxSize) }),
    dry_run: options.dryRun === true,
  };
  await withWorkspaces(host, options, async (tutti) => {
    const pruned = await tutti.pruneWorkspaces(limits);
    if (options.json === true) return writeJson(pruned);
    const { removed, failed, over_bytes, dry_run } = pruned;
    await writeTable(removed.map(({ id, bytes, why }) => ({ cells: [id, size(bytes), why] })));
    const freed = removed.reduce((sum, { bytes }) => sum + bytes, 0);
    const did = dry_run ? "would be removed" : "removed";
    await writeLine(`${counted(removed.length, "workspace")} ${did}, ${size(freed)}`);
    for (const { id, problem } of failed) warn(`${id}: ${problem}`);
    if (over_bytes > 0) {
      warn(`${size(over_bytes)} more than the limit are left, in workspaces that are in use or have uncommitted work`);
    }
  });
}
