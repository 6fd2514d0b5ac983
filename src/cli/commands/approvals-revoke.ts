// `tutti approvals revoke`: takes back what was allowed for good.
import type { Host } from "../../host/host.ts";
import { TuttiError } from "../../protocol/error.ts";
import { stateFolder } from "../state-folder.ts";
import { writeJson, writeLine } from "../terminal/screen.ts";
import { type ApprovalsOptions, withApprovals } from "../with-approvals.ts";

export interface RevokeOptions extends ApprovalsOptions {
  readonly all?: boolean;
}

export async function approvalsRevokeCommand(
  host: Host,
  id: string | undefined,
  { state, json, all }: RevokeOptions,
): Promise<void> {
  if ((id === undefined) === (all !== true)) throw new TuttiError("usage", "give an id, or --all");
  await withApprovals(host, stateFolder(state), async (approvals) => {
    const ids = id === undefined ? (await approvals.list()).map((each) => each.id) : [id];
    for (const each of ids) await approvals.revoke(each);
    if (json === true) return writeJson({ revoked: ids });
    const revoked = ids.length === 0 ? "nothing was allowed for good" : `${ids.join(", ")} revoked`;
    await writeLine(ids.length === 0 ? revoked : `${revoked}; you will be asked again`);
  });
}
