// Asks a person about the calls of a turn that need approval: all of them at once, before any call of the turn runs.

import {
  approvalOutcome,
  approvalQuestion,
  type ApprovalSource,
  type CallEffect,
  decideCalls,
  type Judgement,
} from "../../core/approval.ts";
import { TuttiError } from "../../protocol/error.ts";
import { Answer } from "../../protocol/task/ask.ts";
import type { ToolCall } from "../../protocol/task/message.ts";
import type { Durable } from "../../ports.ts";
import { argumentsText, CallLook, type Look } from "../tools/call-look.ts";

/** A call and the key its result is recorded under. A call without an effect needs no approval. */
export interface ApprovableCall {
  readonly call: ToolCall;
  readonly key: string;
  readonly effect?: CallEffect;
  readonly look?: Look | undefined;
}

interface JudgedCall extends ApprovableCall {
  readonly tool: string;
  readonly effect: CallEffect;
}

export interface Approval {
  /** The reasons for denied calls, by their keys. */
  readonly denied: ReadonlyMap<string, string>;
  /** What was looked up about the calls, by their keys. */
  readonly looks: ReadonlyMap<string, CallLook>;
}

/** What calls are judged by. */
export interface ApprovalContext {
  /** Whoever has rules about the calls of this agent. */
  readonly sources: readonly ApprovalSource[];
  readonly offLimits: readonly string[];
}

/** Undefined, without waiting, when every call may run and none has to be looked at, as in most turns. */
export function approveCalls(
  durable: Durable,
  context: ApprovalContext,
  calls: readonly ApprovableCall[],
): Promise<Approval> | undefined {
  const judged: JudgedCall[] = [];
  for (const { call, key, effect, look } of calls) {
    if (effect !== undefined) judged.push({ tool: call.tool_name, effect, call, key, look });
  }
  const judgements = decideCalls(judged, context.sources);
  const mayRun = judged.every(({ look }, index) => judgements[index]?.verdict === "run" && look?.always !== true);
  return mayRun ? undefined : judgeAll(durable, context, judged);
}

async function judgeAll(durable: Durable, context: ApprovalContext, calls: readonly JudgedCall[]): Promise<Approval> {
  const denied = new Map<string, string>();
  const looks = new Map<string, CallLook>();
  await Promise.all(
    calls.map(async (judged) => {
      const { call, key } = judged;
      const look = await lookAt(durable, context, judged);
      if (look !== undefined) looks.set(key, look);
      const effect = withProtected(judged.effect, (look?.protected.length ?? 0) > 0);
      const judgement = judge({ ...judged, effect }, context);
      if (judgement.verdict === "run") return;
      if (judgement.verdict === "refuse") {
        denied.set(key, judgement.reason);
        return;
      }
      const happens = look?.text ?? argumentsText(call.input);
      const question = approvalQuestion(durable.agent, { tool: call.tool_name, effect }, happens);
      const files = look === undefined || look.protected.length === 0 ? {} : { protected: look.protected };
      const waited = await durable.wait(`${key}.approval`, {
        ask: {
          kind: "approval",
          question,
          details: { call, reason: judgement.reason, rule: judgement.rule, ...files },
        },
        schema: Answer,
      });
      const outcome = approvalOutcome(waited);
      if (!outcome.approved) denied.set(key, outcome.reason);
    }),
  );
  return { denied, looks };
}

/** Recorded, so that a restart asks about the same thing and the call runs only as it was shown. */
async function lookAt(durable: Durable, context: ApprovalContext, judged: JudgedCall): Promise<CallLook | undefined> {
  const { call, key, effect, look } = judged;
  const { verdict } = judge(judged, context);
  if (look === undefined || verdict === "refuse" || (verdict === "run" && !look.always)) return undefined;
  const isAsked = (changesProtected: boolean): boolean =>
    judge({ ...judged, effect: withProtected(effect, changesProtected) }, context).verdict === "ask";
  return durable.step(
    `${key}.look`,
    { repeatable: true, schema: CallLook, input: [call.tool_name, call.input], looks: true },
    () => look.at({ rights: durable.rights, offLimits: context.offLimits, isAsked }),
  );
}

function withProtected(effect: CallEffect, changesProtected: boolean): CallEffect {
  if (!changesProtected || effect.effects.includes("protected")) return effect;
  return { ...effect, effects: [...effect.effects, "protected"] };
}

function judge(call: JudgedCall, { sources }: ApprovalContext): Judgement {
  const [judgement] = decideCalls([call], sources);
  if (judgement === undefined) throw new TuttiError("internal", `${call.tool} was not judged`);
  return judgement;
}
