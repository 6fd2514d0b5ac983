// Takes the failure that an operator reports after it had acknowledged a spawn without a value: an ack says that work began.

import { storedAnswerIn } from "../../engine/wait-body.ts";
import type { Tasks } from "../../ports.ts";
import { TuttiError } from "../../protocol/error.ts";
import { type OperatorFailedPart, SpawnAnswer } from "../../protocol/operator/operator-request.ts";
import { operatorKeys } from "../../protocol/operator/operator-waits.ts";
import { spawnVerdict } from "../../protocol/operator/spawn-verdict.ts";
import { taskName } from "../../store/names.ts";
import type { OperatorReads } from "../../store/reads-for-operators.ts";
import type { Store, WaitRow } from "../../store/store.ts";
import { requestDetails } from "./request-details.ts";

export interface ReportContext {
  readonly reads: OperatorReads;
  readonly store: Pick<Store, "bindKey">;
  readonly engine: Pick<Tasks, "message">;
}

/**
 * `reported`: the task is told, durably. `late`: the attempt has ended or has its result. `no_report`: the answer reports
 * no failure, or the operator has said more than that work began.
 */
export async function reportFailure(
  { reads, store, engine }: ReportContext,
  row: WaitRow,
  answer: SpawnAnswer,
): Promise<"reported" | "late" | "no_report"> {
  const details = requestDetails(row);
  const given = await reads.answer(row.id);
  const before = given === undefined ? undefined : SpawnAnswer.safeParse(storedAnswerIn(given)?.value).data;
  if (details?.kind !== "spawn" || before === undefined) return "no_report";
  if (spawnVerdict(before, { posted: false }).outcome !== "waiting") return "no_report";
  if (spawnVerdict(answer, { posted: false }).outcome !== "failed") return "no_report";
  const { attempt } = details;
  const result = await reads.waitAt(row.task, attempt, operatorKeys.result);
  const isOver = result === undefined || (await reads.answer(result.id)) !== undefined;
  if (isOver || (await reads.lastAttempt(row.task)) !== attempt) return "late";
  const task = taskName(reads.salt, row.task);
  const key = `operator failed ${task} ${attempt}`;
  if (await reads.isBound(key)) return "no_report";
  const data: OperatorFailedPart = { operator_failed: { attempt, answer } };
  const message = { name: "operator", role: "assistant" as const, parts: [{ part_type: "data" as const, data }] };
  try {
    // Where the task runs in this process, both are in one commit. A report that comes twice changes nothing.
    const bind = async (): Promise<void> => store.bindKey(key, { task: row.task, content: "" });
    await Promise.all([engine.message(task, message, { admitted: true }), bind()]);
    return "reported";
  } catch (thrown) {
    const hasEnded = thrown instanceof TuttiError && (thrown.code === "conflict" || thrown.code === "not_found");
    if (hasEnded) return "late";
    throw thrown;
  }
}
