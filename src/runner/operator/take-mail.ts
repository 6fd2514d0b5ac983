// Handles messages to a task while its worker is at work: records progress and people's messages, and asks a worker's questions.

import { z } from "zod";

import { inLine, saidBy } from "../../core/foreign-words.ts";
import { Answer } from "../../protocol/task/ask.ts";
import { TuttiError } from "../../protocol/error.ts";
import { Usage } from "../../protocol/task/budget.ts";
import type { CompleteMessage } from "../../protocol/task/message.ts";
import {
  OperatorFailedPart,
  RightsEndedPart,
  type SpawnAnswer,
  WorkerAskPart,
  WorkerUsagePart,
} from "../../protocol/operator/operator-request.ts";
import { WorkerQuestion } from "../../protocol/operator/worker.ts";
import type { AskSpec, Durable } from "../../ports.ts";

const maxQuestion = 8192;

export async function takeMail(durable: Durable, turn: number, message: CompleteMessage): Promise<void> {
  const asked = message.role === "assistant" ? partIn(message, WorkerAskPart)?.worker_ask : undefined;
  if (asked === undefined) return keepMail(durable, String(turn), message);
  // A question of an earlier attempt's worker is dropped: that attempt was given up.
  if (asked.attempt !== durable.attempt) return;
  try {
    await durable.open(asked.wait, { ask: askOf(durable, asked), schema: Answer });
  } catch (thrown) {
    // The same question was posted twice before it was opened; one wait is enough.
    if (!(thrown instanceof TuttiError) || thrown.code !== "conflict") throw thrown;
  }
}

/** Records what a message says, when the task ends: what was said and what was used, but no question. */
export async function keepMail(durable: Durable, key: string, message: CompleteMessage): Promise<void> {
  const used = message.role === "assistant" ? partIn(message, WorkerUsagePart)?.worker_usage : undefined;
  if (used !== undefined) await settleWorkerUsage(durable, `used.${key}`, used);
  else if (!isNotSaid(message)) durable.say(`said.${key}`, message);
}

/** What a worker used is settled when it is told, because nothing could be reserved before. */
export async function settleWorkerUsage(durable: Durable, key: string, used: Usage): Promise<void> {
  await durable.step(key, { repeatable: true, looks: true, schema: Usage, spent: (told) => told }, () => used);
}

/** Whether the message is for the task itself and is not part of what was said. */
function isNotSaid(message: CompleteMessage): boolean {
  if (message.role !== "assistant") return false;
  return partIn(message, ForTheTask) !== undefined;
}

/** What the operator of this attempt reports after it had acknowledged the spawn; undefined if the message is no report. */
export function operatorFailureIn({ attempt }: Durable, message: CompleteMessage): SpawnAnswer | undefined {
  const told = message.role === "assistant" ? partIn(message, OperatorFailedPart)?.operator_failed : undefined;
  return told?.attempt === attempt ? told.answer : undefined;
}

/** Whether the message tells that the worker of this attempt has lost its rights. */
export function tellsRightsEnded({ attempt }: Durable, message: CompleteMessage): boolean {
  return message.role === "assistant" && partIn(message, RightsEndedPart)?.rights_ended.attempt === attempt;
}

type PostedQuestion = WorkerAskPart["worker_ask"];

const ForTheTask = z.union([WorkerAskPart, RightsEndedPart, OperatorFailedPart]);

/** What a part of the message says, if one has this form. */
function partIn<T>({ parts }: CompleteMessage, schema: z.ZodType<T>): T | undefined {
  for (const part of parts) {
    const told = part.part_type === "data" ? schema.safeParse(part.data) : undefined;
    if (told?.success === true) return told.data;
  }
  return undefined;
}

function askOf(durable: Durable, { question: posted, digest }: PostedQuestion): AskSpec {
  const shaped = WorkerQuestion.safeParse(posted);
  const { question, details, choices, answer_schema } = shaped.success
    ? shaped.data
    : { question: questionText(posted), details: undefined, choices: undefined, answer_schema: undefined };
  return {
    kind: "question",
    question: saidBy(`${inLine(durable.agent)} asks`, question),
    details: { worker: { question: posted ?? null, digest }, ...(details === undefined ? {} : { details }) },
    ...(choices === undefined ? {} : { choices }),
    ...(answer_schema === undefined ? {} : { answer_schema }),
  };
}

function questionText(posted: unknown): string {
  const text = typeof posted === "string" ? posted : JSON.stringify(posted ?? null);
  return text.trim() === "" ? "(an empty question)" : text.slice(0, maxQuestion);
}
