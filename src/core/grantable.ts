// Decides which approvals `--yes` answers: calls that cannot do lasting harm unseen, and what an agent asks by itself.

import { z } from "zod";

import { Effect } from "../protocol/invocation/approval-policy.ts";
import type { Ask } from "../protocol/task/ask.ts";

const CallDetails = z.object({ call: z.object({}), effects: z.array(Effect), confined: z.boolean() });

/**
 * Never trust in a config, never a budget, never an unconfined program or runner, never a protected file. An approval
 * whose details are not those of a call is one of these, or one that nobody has thought of yet.
 */
export function isGrantable({ kind, details }: Pick<Ask, "kind" | "details">): boolean {
  if (kind !== "approval") return false;
  // An agent asks in its own words, with the tool `ask`. Its later calls are judged by themselves.
  if (details === undefined) return true;
  const { data } = CallDetails.safeParse(details);
  if (data === undefined || data.effects.includes("protected")) return false;
  return data.confined || !data.effects.includes("execute");
}
