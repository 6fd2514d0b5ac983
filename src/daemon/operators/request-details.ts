// Reads from a wait what an operator is asked.

import { waitBodyIn } from "../../engine/wait-body.ts";
import { OperatorRequest } from "../../protocol/operator/operator-request.ts";
import { isOperatorLabel } from "../../protocol/operator/operator-waits.ts";
import type { WaitRow } from "../../store/store.ts";

/** Of an ask only the kind is read here. */
export type RequestDetails = Exclude<OperatorRequest, { kind: "result" }> | { readonly kind: "ask" };

/** Returns undefined if the wait asks nothing of an operator. */
export function requestDetails(row: WaitRow): RequestDetails | undefined {
  if (row.ask !== null) return { kind: "ask" };
  const body = waitBodyIn(row);
  if (body.label === undefined || !isOperatorLabel(body.label)) return undefined;
  const details = OperatorRequest.safeParse(body.details).data;
  return details === undefined || details.kind === "result" ? undefined : details;
}
