// What becomes of an attempt whose work failed: the tree's senior is asked, if it has one. A failure never becomes a success.

import { z } from "zod";

import { inLine } from "../../core/foreign-words.ts";
import { TuttiError } from "../../protocol/error.ts";
import { TreeOperators } from "../../protocol/invocation/invocation-file.ts";
import { Answer } from "../../protocol/task/ask.ts";
import type { Durable } from "../../ports.ts";

export interface FailedWork {
  readonly reason: string;
  /** What the worker or the operator said about it; undefined if nothing was. */
  readonly value?: unknown;
}

const retry = "retry";
const acceptAsFailed = "accept as failed";
const fail = "fail";

const RootInput = z.object({ operators: TreeOperators.optional() });

/** A longer value is shown by its length; whoever decides finds all of it in the task. */
const maxShownLength = 64 * 1024;

/** The worker's final result says that it did not succeed. Starts the next attempt or fails the task. */
export async function endFailedWork(durable: Durable, work: FailedWork): Promise<never> {
  const senior = RootInput.safeParse(durable.rootInput).data?.operators?.senior;
  if (senior === undefined) throw workFailure(durable, work);
  const { agent, attempt } = durable;
  const { message } = workFailure(durable, work);
  const waited = await durable.wait("failed", {
    ask: {
      kind: "question",
      question: `${inLine(message)}. Offer the task again (${retry}), let it fail with what was posted (${acceptAsFailed}), or let it fail without (${fail})?`,
      details: { agent, attempt, ...(work.value === undefined ? {} : { value: shownValue(work.value) }) },
      choices: [retry, acceptAsFailed, fail],
    },
    schema: Answer,
  });
  const choice = "value" in waited && waited.value.kind === "question" ? waited.value.value : acceptAsFailed;
  if (choice === retry) return durable.again("again.failed", { reason: message, outcome: "failed" });
  throw workFailure(durable, choice === fail ? { reason: work.reason } : work);
}

export function workFailure({ agent }: Durable, { reason, value }: FailedWork): TuttiError {
  const line = reason.replaceAll(/\s+/g, " ").trim().slice(0, 2000);
  const message = `${agent} failed: ${line === "" ? "no reason was given" : line}`;
  return new TuttiError("task_failed", message, value === undefined ? {} : { details: { value } });
}

function shownValue(value: unknown): unknown {
  const { length } = JSON.stringify(value ?? null);
  return length <= maxShownLength ? value : { omitted: "too long to be shown here", length };
}
