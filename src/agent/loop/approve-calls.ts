// Asks a person about the calls of a turn that need approval: all of them at once, before any call of the turn runs.

import { z } from "zod";

import {
  approvalOutcome,
  approvalQuestion,
  type ApprovalSource,
  type CallEffect,
  decideCalls,
  type Judgement,
} from "../../core/approval.ts";
import { allowedText } from "../../core/standing-approvals.ts";
import { TuttiError } from "../../protocol/error.ts";
import { Answer } from "../../protocol/task/ask.ts";
import type { ToolCall } from "../../protocol/task/message.ts";
import type { Durable } from "../../ports.ts";
import type { StandingApprovals } from "../agent-environment.ts";
import { argumentsText, CallLook, type Look } from "../tools/call-look.ts";

/** A call and the key its result is recorded under. A call without an effect needs no approval. */
export interface ApprovableCall {
  readonly call: ToolCall;
  readonly key: string;
  readonly effect?: CallEffect;
  /** What a person is told that the call may do; `effect` when absent. */
  readonly told?: CallEffect;
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
  readonly standing?: StandingApprovals | undefined;
  readonly offLimits: readonly string[];
}

/** Undefined, without waiting, when every call may run and none has to be looked at, as in most turns. */
export function approveCalls(
  durable: Durable,
  context: ApprovalContext,
  calls: readonly ApprovableCall[],
): Promise<Approval> | undefined {
  const judged: JudgedCall[] = [];
  for (const { call, key, effect, told, look } of calls) {
    if (effect !== undefined)
      judged.push({ tool: call.tool_name, effect, call, key, look, ...(told === undefined ? {} : { told }) });
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
      if (look?.allowed !== undefined) {
        await recordAllowed(durable, judged, look.allowed);
        return;
      }
      const happens = look?.text ?? argumentsText(call.input);
      const told = judged.told ?? effect;
      const question = approvalQuestion(durable.agent, { tool: call.tool_name, effect: told }, happens);
      const always = look?.calls === undefined || look.calls === null ? {} : { always: look.calls };
      const files = look === undefined || look.protected.length === 0 ? {} : { protected: look.protected };
      const waited = await durable.wait(`${key}.approval`, {
        ask: {
          kind: "approval",
          question,
          details: { call, ...told, reason: judgement.reason, rule: judgement.rule, ...always, ...files },
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
  if (verdict === "refuse" || (verdict === "run" && look?.always !== true)) return undefined;
  if (look === undefined && context.standing === undefined) return undefined;
  const isAsked = (changesProtected: boolean): boolean =>
    judge({ ...judged, effect: withProtected(effect, changesProtected) }, context).verdict === "ask";
  return durable.step(
    `${key}.look`,
    { repeatable: true, schema: CallLook, input: [call.tool_name, call.input], looks: true },
    async () => {
      const found =
        look === undefined
          ? { protected: [], text: argumentsText(call.input) }
          : await look.at({ rights: durable.rights, offLimits: context.offLimits, isAsked });
      return isAsked(found.protected.length > 0) ? withStanding(context, judged, found) : found;
    },
  );
}

/** Adds what "always" would allow, and the standing approval that allows the call already. Only calls that ask come here. */
function withStanding({ standing }: ApprovalContext, { tool, effect }: JudgedCall, found: CallLook): CallLook {
  if (standing === undefined) return found;
  const isProtected = found.protected.length > 0 || effect.effects.includes("protected");
  const byTool = { tool, unconfined: !effect.confined, network: effect.effects.includes("network") };
  const calls = isProtected ? null : found.calls === undefined ? byTool : found.calls;
  const kept = calls === null ? undefined : standing.find(calls);
  if (kept === undefined) return { ...found, calls };
  // Nobody saw what the file is now, so it may change until the call runs.
  const { file: _, ...rest } = found;
  return { ...rest, calls, allowed: { id: kept.id, text: allowedText(kept.calls) } };
}

const AllowedEvent = z.object({ tool: z.string(), rule: z.string(), text: z.string() });

/** An event of its own, so that everybody can see why nobody was asked. */
async function recordAllowed(
  durable: Durable,
  { tool, key }: JudgedCall,
  { id, text }: NonNullable<CallLook["allowed"]>,
): Promise<void> {
  const options = { repeatable: true, schema: AllowedEvent, event: "call.allowed", looks: true } as const;
  await durable.step(`${key}.allowed`, options, () => ({ tool, rule: id, text }));
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
