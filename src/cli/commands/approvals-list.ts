// `tutti approvals list`: lists what was allowed for good.
import { allowedText } from "../../core/standing-approvals.ts";
import type { Host } from "../../host/host.ts";
import { stateFolder } from "../state-folder.ts";
import { printableName } from "../terminal/printable.ts";
import { writeJson, writeLine } from "../terminal/screen.ts";
import { bold, dim } from "../terminal/style.ts";
import { type ApprovalsOptions, withApprovals } from "../with-approvals.ts";

export async function approvalsListCommand(host: Host, { state, json }: ApprovalsOptions): Promise<void> {
  await withApprovals(host, stateFolder(state), async (approvals) => {
    const all = await approvals.list();
    if (json === true) return writeJson({ approvals: all });
    if (all.length === 0) return writeLine("nothing is allowed for good; answer an approval with `a` to allow it");
    for (const { id, project, calls, at, by } of all) {
      const facts = dim(`by ${printableName(by)}, ${new Date(at).toISOString().slice(0, 10)}`);
      await writeLine(`${bold(id)}  ${printableName(project)}  ${facts}\n  ${printableName(allowedText(calls))}`);
    }
  });
}
