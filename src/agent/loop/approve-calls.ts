// Asks a person about the calls of a turn that need approval: all of them at once, before any call of the turn runs.

import {
  approvalOutcome,
  approvalQuestion,
  type CallEffect,
  decideCalls,
  type Judgement,
} from "../../core/approval.ts";
import type { ApprovalPolicy } from "../../protocol/invocation/approval-policy.ts";
import { Answer } from "../../protocol/task/ask.ts";
import type { ToolCall } from "../../protocol/task/message.ts";
import type { Durable } from "../../ports.ts";

/** A call and the key its result is recorded under. A call without an effect needs no approval. */
export interface ApprovableCall {
  readonly call: ToolCall;
  readonly key: string;
  readonly effect?: CallEffect;
}

interface JudgedCall extends ApprovableCall {
  readonly tool: string;
  readonly effect: CallEffect;
}

/** The reasons for denied calls, by their keys. Undefined, without waiting, when every call may run, as in most turns. */
export function approveCalls(
  durable: Durable,
  policy: ApprovalPolicy,
  calls: readonly ApprovableCall[],
): Promise<ReadonlyMap<string, string>> | undefined {
  const judged: JudgedCall[] = [];
  for (const { call, key, effect } of calls) {
    if (effect !== undefined) judged.push({ tool: call.tool_name, effect, call, key });
  }
  const judgements = decideCalls(judged, policy);
  return judgements.every(({ verdict }) => verdict === "run") ? undefined : askForApproval(durable, judged, judgements);
}

async function askForApproval(
  durable: Durable,
  calls: readonly JudgedCall[],
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
