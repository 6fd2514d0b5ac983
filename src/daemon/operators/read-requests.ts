// Reads which of some waits are requests to operators that wait for a reply, and whom each is for.

import type { TreeOperators } from "../../protocol/invocation/invocation-file.ts";
import type { OperatorReads } from "../../store/reads-for-operators.ts";
import { taskName } from "../../store/names.ts";
import type { WaitRow } from "../../store/store.ts";
import { requestDetails } from "./request-details.ts";
import type { PendingRequest } from "./session-state.ts";

type ReadRequests = (ids: readonly number[]) => Promise<PendingRequest[]>;

/** In the order of their ids. A wait that is settled, or asks nothing of an operator, is left out. */
export function requestReader(
  reads: Pick<OperatorReads, "salt" | "unsettled">,
  operatorsOf: (root: number) => Promise<TreeOperators>,
): ReadRequests {
  const read = async (row: WaitRow): Promise<PendingRequest[]> => {
    const details = requestDetails(row);
    if (details === undefined) return [];
    const address = details.kind === "ask" ? (await operatorsOf(row.root)).senior : details.operator;
    if (address === undefined) return [];
    const { agent, attempt } = details.kind === "ask" ? { agent: "", attempt: 0 } : details;
    const task = taskName(reads.salt, row.task);
    const about = { id: row.id, kind: details.kind, address, task, taskRow: row.task, agent, attempt, due: row.due };
    return [{ ...about, session: undefined, sent: false, recorded: false }];
  };
  return async (ids) => {
    const found: PendingRequest[] = [];
    for (const row of await reads.unsettled(ids)) found.push(...(await read(row)));
    return found;
  };
}
