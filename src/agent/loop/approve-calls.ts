// Puts the calls of a turn that need it to a person, all at once and before anything of the turn runs.

import {
  approvalOutcome,
  approvalQuestion,
  type CallEffect,
  decideCalls,
  type JudgedCall,
  type Judgement,
} from "../../core/approval.ts";
import { Answer } from "../../protocol/task/ask.ts";
import type { ToolCall } from "../../protocol/task/message.ts";
import type { Turn } from "../delegation/call-group.ts";

interface PendingCall {
  readonly call: ToolCall;
  readonly key: string;
}

interface AskedCall extends PendingCall, JudgedCall {}

/** Why a call may not run, by its key. Undefined, at once, when all may: most turns need nobody. Calls without an effect are not judged. */
export function approveCalls(
  turn: Turn,
  places: readonly PendingCall[],
  works: readonly { readonly effect?: CallEffect }[],
): Promise<ReadonlyMap<string, string>> | undefined {
  const calls: AskedCall[] = [];
  places.forEach(({ call, key }, index) => {
    const effect = works[index]?.effect;
    if (effect !== undefined) calls.push({ tool: call.tool_name, effect, call, key });
  });
  const judgements = decideCalls(calls, turn.caller.environment.approvals);
  return judgements.every(({ verdict }) => verdict === "run") ? undefined : askAbout(turn, calls, judgements);
}

async function askAbout(
  { durable }: Turn,
  calls: readonly AskedCall[],
  judgements: readonly Judgement[],
): Promise<ReadonlyMap<string, string>> {
  const denied = new Map<string, string>();
  await Promise.all(
    calls.map(async ({ call, key, effect }, index) => {
      const judgement = judgements[index];
      if (judgement === undefined || judgement.verdict === "run") return;
      if (judgement.verdict === "refuse") {
        denied.set(key, judgement.reason);
        return;
      }
      const question = approvalQuestion(durable.agent, { tool: call.tool_name, effect });
      const waited = await durable.wait(`${key}.approval`, {
        ask: { kind: "approval", question, details: { call, reason: judgement.reason } },
        schema: Answer,
      });
      const outcome = approvalOutcome(waited);
      if (!outcome.approved) denied.set(key, outcome.reason);
    }),
  );
  return denied;
}
