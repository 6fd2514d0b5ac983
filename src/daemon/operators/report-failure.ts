// Takes the failure that an operator reports after it had acknowledged a spawn without a value: an ack says that work began.

import { storedAnswerIn } from "../../engine/wait-body.ts";
import type { Tasks } from "../../ports.ts";
import { TuttiError } from "../../protocol/error.ts";
import { type OperatorFailedPart, SpawnAnswer } from "../../protocol/operator/operator-request.ts";
import { operatorKeys } from "../../protocol/operator/operator-waits.ts";
import { spawnVerdict } from "../../protocol/operator/spawn-verdict.ts";
import { taskName } from "../../store/names.ts";
import type { Store, WaitRow } from "../../store/store.ts";
import { requestDetails } from "./request-details.ts";

export interface ReportContext {
  readonly store: Store;
  readonly engine: Pick<Tasks, "message">;
}

/**
 * `reported`: the task is told, durably. `late`: the attempt has ended or has its result. `no_report`: the answer reports
 * no failure, or the operator has said more than that work began.
 */
export async function reportFailure(
  { store, engine }: ReportContext,
  row: WaitRow,
  answer: SpawnAnswer,
): Promise<"reported" | "late" | "no_report"> {
  const details = requestDetails(row);
  const given = store.answer(row.id);
  const before = given === undefined ? undefined : SpawnAnswer.safeParse(storedAnswerIn(given)?.value).data;
  if (details?.kind !== "spawn" || before === undefined) return "no_report";
  if (spawnVerdict(before, { posted: false }).outcome !== "waiting") return "no_report";
  if (spawnVerdict(answer, { posted: false }).outcome !== "failed") return "no_report";
  const { attempt } = details;
  const result = store.waitAt(row.task, attempt, operatorKeys.result);
  const isOver = result === undefined || store.answer(result.id) !== undefined;
  if (isOver || store.lastRun(row.task)?.attempt !== attempt) return "late";
  const key = `operator failed ${taskName(store.salt, row.task)} ${attempt}`;
  if (store.boundKey(key) !== undefined) return "no_report";
  store.bindKey(key, { task: row.task, content: "" });
  const data: OperatorFailedPart = { operator_failed: { attempt, answer } };
  const message = { name: "operator", role: "assistant" as const, parts: [{ part_type: "data" as const, data }] };
  try {
    await engine.message(taskName(store.salt, row.task), message, { admitted: true });
    return "reported";
  } catch (thrown) {
    const hasEnded = thrown instanceof TuttiError && (thrown.code === "conflict" || thrown.code === "not_found");
    if (hasEnded) return "late";
    throw thrown;
  }
}
