// After a call: asks a person about protected files that a program made and that are held, and puts them back or leaves them.

import { z } from "zod";

import { approvalOutcome, type CallEffect, decideCalls } from "../../core/approval.ts";
import { TuttiError } from "../../protocol/error.ts";
import { Answer } from "../../protocol/task/ask.ts";
import type { CompleteMessage, ToolCall } from "../../protocol/task/message.ts";
import type { Durable, Schema } from "../../ports.ts";
import { type HeldFiles, heldQuestion, HeldReport, PutBack } from "../tools/held-look.ts";
import type { ApprovalContext } from "./approve-calls.ts";
import { RecordedMessage } from "./plain-message.ts";

/** What a call returned that the model is told only after a person was asked. */
export interface UntoldOutcome {
  readonly untold: unknown;
}

/** The recorded outcome of a call that may leave protected files behind. */
export const MessageOrUntold: Schema<CompleteMessage | UntoldOutcome> = {
  parse: (value) =>
    typeof value === "object" && value !== null && "untold" in value
      ? { untold: value.untold }
      : RecordedMessage.parse(value),
};

const Found = z.object({ report: HeldReport.nullable(), problem: z.string().nullable() });
/** They were made by a confined program, and only the protected files are in question now. */
const effect: CallEffect = { effects: ["protected"], confined: true };
/** The names that a model is told; a person sees more. */
const mostTold = 20;

/** What the model is told about it, beside the outcome of the call. */
export async function settleHeld(
  durable: Durable,
  { sources }: ApprovalContext,
  { call, key, held }: { readonly call: ToolCall; readonly key: string; readonly held: HeldFiles },
): Promise<object> {
  const suffix = ".held";
  const { report, problem } = await durable.step(
    `${key}${suffix}`,
    { repeatable: true, schema: Found, looks: true },
    async (step) => {
      try {
        return { report: (await held.report(step.key.slice(0, -suffix.length))) ?? null, problem: null };
      } catch (thrown) {
        if (!(thrown instanceof TuttiError)) throw thrown;
        return { report: null, problem: thrown.message };
      }
    },
  );
  // The model must not go on beside a protected file that nobody has agreed to.
  if (problem !== null) throw new TuttiError("io", problem);
  if (report === null) return {};
  const told = {
    ...(report.returned.length === 0 ? {} : { protected_files_returned: shorten(report.returned) }),
    ...(report.dropped.length === 0 ? {} : { special_files_removed: shorten(report.dropped) }),
  };
  if (report.count === 0) return told;
  const paths = report.files.map(({ path }) => path);
  const denied = await reasonAgainst(durable, { call, key, report, sources });
  if (denied !== undefined) {
    return {
      ...told,
      protected_files_held: report.count,
      protected_files: {
        taken_away: shorten(paths),
        reason: `${denied}; these files are no longer in the workspace`,
      },
    };
  }
  const { put_back, not_put_back } = await durable.step(
    `${key}.putback`,
    { repeatable: true, schema: PutBack, input: report.hash },
    async (step) => {
      try {
        return await held.putBack(step.key.slice(0, -".putback".length), report.hash);
      } catch (thrown) {
        if (!(thrown instanceof TuttiError)) throw thrown;
        return { put_back: [], not_put_back: paths.map((path) => ({ path, reason: thrown.message })) };
      }
    },
  );
  return {
    ...told,
    protected_files_held: not_put_back.length,
    protected_files: { put_back: shorten(put_back), ...(not_put_back.length === 0 ? {} : { not_put_back }) },
  };
}

/** Why the files stay where they are; undefined when a person agreed to them. */
async function reasonAgainst(
  durable: Durable,
  {
    call,
    key,
    report,
    sources,
  }: { call: ToolCall; key: string; report: HeldReport; sources: ApprovalContext["sources"] },
): Promise<string | undefined> {
  const [judgement] = decideCalls([{ tool: call.tool_name, effect }], sources);
  if (judgement === undefined || judgement.verdict === "run") throw new TuttiError("internal", "nobody would be asked");
  const { verdict, reason, rule } = judgement;
  if (verdict === "refuse") return reason;
  const waited = await durable.wait(`${key}.keep`, {
    ask: {
      kind: "approval",
      question: heldQuestion(durable.agent, report),
      details: {
        call,
        ...effect,
        reason,
        rule,
        protected: report.files.map(({ path }) => path),
        held: { count: report.count, folder: report.folder, sha256: report.hash },
      },
    },
    schema: Answer,
  });
  const outcome = approvalOutcome(waited);
  return outcome.approved ? undefined : outcome.reason;
}

function shorten(paths: readonly string[]): string[] {
  if (paths.length <= mostTold) return [...paths];
  return [...paths.slice(0, mostTold), `and ${paths.length - mostTold} more`];
}
