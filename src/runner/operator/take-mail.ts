// What reaches a task while its worker is at work: progress and people's words are kept, a worker's question is asked.

import { Answer } from "../../protocol/task/ask.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { CompleteMessage } from "../../protocol/task/message.ts";
import { WorkerAskPart } from "../../protocol/operator/operator-request.ts";
import { WorkerQuestion } from "../../protocol/operator/worker.ts";
import type { AskSpec, Durable } from "../../ports.ts";

const maxQuestion = 8192;

export async function takeMail(durable: Durable, turn: number, message: CompleteMessage): Promise<void> {
  const asked = message.role === "assistant" ? questionIn(message) : undefined;
  if (asked === undefined) {
    durable.say(`said.${turn}`, message);
    return;
  }
  // Posted by the worker of an attempt that was given up.
  if (asked.attempt !== durable.attempt) return;
  try {
    await durable.open(asked.wait, { ask: askOf(durable, asked), schema: Answer });
  } catch (thrown) {
    // The same question posted twice before it was open: the one that is open stands.
    if (!(thrown instanceof TuttiError) || thrown.code !== "conflict") throw thrown;
  }
}

/** A worker's, not a person's. */
export function isQuestion(message: CompleteMessage): boolean {
  return message.role === "assistant" && questionIn(message) !== undefined;
}

type Asked = WorkerAskPart["worker_ask"];

function questionIn({ parts }: CompleteMessage): Asked | undefined {
  for (const part of parts) {
    const asked = part.part_type === "data" ? WorkerAskPart.safeParse(part.data) : undefined;
    if (asked?.success === true) return asked.data.worker_ask;
  }
  return undefined;
}

function askOf(durable: Durable, { question: posted, digest }: Asked): AskSpec {
  const shaped = WorkerQuestion.safeParse(posted);
  const { question, details, choices, answer_schema } = shaped.success
    ? shaped.data
    : { question: plain(posted), details: undefined, choices: undefined, answer_schema: undefined };
  return {
    kind: "question",
    question: `${durable.agent} asks: ${question}`,
    details: { worker: { question: posted ?? null, digest }, ...(details === undefined ? {} : { details }) },
    ...(choices === undefined ? {} : { choices }),
    ...(answer_schema === undefined ? {} : { answer_schema }),
  };
}

function plain(posted: unknown): string {
  const text = typeof posted === "string" ? posted : JSON.stringify(posted ?? null);
  return text.trim() === "" ? "(an empty question)" : text.slice(0, maxQuestion);
}
