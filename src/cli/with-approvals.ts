// Reaches the standing approvals: through the process that works on the folder if there is one, otherwise in the file.
import type { Host } from "../host/host.ts";
import type { StandingApproval } from "../protocol/invocation/standing-approval.ts";

export interface ApprovalsOptions {
  readonly state?: string;
  readonly json?: boolean;
}

interface Approvals {
  list(): Promise<readonly StandingApproval[]>;
  revoke(id: string): Promise<void>;
}

export async function withApprovals(
  host: Host,
  folder: string,
  work: (approvals: Approvals) => Promise<void>,
): Promise<void> {
  const tutti = await host.connect(folder);
  if (tutti === undefined) return work(await host.standingApprovals(folder));
  try {
    await work({ list: () => tutti.approvals(), revoke: (id) => tutti.revokeApproval(id) });
  } finally {
    await tutti.close();
  }
}
