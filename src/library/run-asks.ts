// Questions of runs: shown with the ways to answer them, and answered by the program's own function.

import { z } from "zod";

import type { Tutti } from "../client/client.ts";
import { TuttiError } from "../protocol/error.ts";
import { Answer, type Answerer, type Ask } from "../protocol/task/ask.ts";
import type { AskAnswer, OnAsk, RunAsk } from "./opened-tutti.ts";

type AskClient = Pick<Tutti, "answer" | "ask" | "asks" | "follow">;

const program: Answerer = { kind: "person", name: "program" };

const OfProgram = z.object({ of_program: z.object({ question: z.string(), details: z.unknown().optional() }) });

export function runAsk(client: Pick<Tutti, "answer">, ask: Ask): RunAsk {
  const { id, task, kind, choices = [] } = ask;
  // People are shown the words of a program as such; the program itself gets them as it gave them.
  const { question, details } = OfProgram.safeParse(ask.details).data?.of_program ?? ask;
  const send = async (answer: Answer): Promise<boolean> => {
    const outcome = await client.answer(id, answer, program);
    if (outcome.accepted) return true;
    if (outcome.code === "invalid") throw new TuttiError("invalid_input", outcome.message);
    return false;
  };
  return {
    id,
    task,
    kind,
    question,
    choices,
    details,
    approve: () => send(yes(kind)),
    deny: (reason) => send(no(kind, reason)),
    answer: (value) => send(answerOf(kind, value)),
  };
}

export async function openAsks(client: AskClient, task?: string): Promise<readonly RunAsk[]> {
  const listed = await client.asks(task);
  const found = await Promise.all(listed.map(({ id }) => stillOpen(client, id)));
  return found.flatMap((ask) => (ask === undefined ? [] : [runAsk(client, ask)]));
}

/** Undefined when it was settled in the meantime. */
async function stillOpen(client: Pick<Tutti, "ask">, id: string): Promise<Ask | undefined> {
  try {
    return await client.ask(id);
  } catch (thrown) {
    if (thrown instanceof TuttiError && thrown.code === "not_found") return undefined;
    throw thrown;
  }
}

function yes(kind: Ask["kind"]): Answer {
  if (kind === "approval") return { kind, approved: true };
  return kind === "budget" ? { kind, go_on: true } : { kind, value: "yes" };
}

function no(kind: Ask["kind"], reason: string | undefined): Answer {
  if (kind === "approval") return { kind, approved: false, ...(reason === undefined ? {} : { reason }) };
  return kind === "budget" ? { kind, go_on: false } : { kind, value: reason ?? "no" };
}

function answerOf(kind: Ask["kind"], value: unknown): Answer {
  const whole = Answer.safeParse(value);
  if (whole.success && whole.data.kind === kind) return whole.data;
  if (kind === "question") return { kind, value };
  if (typeof value === "boolean") return value ? yes(kind) : no(kind, undefined);
  throw new TuttiError("invalid_input", `the ask is a ${kind}: answer it with true, false or a whole answer`);
}

export interface AnsweringOptions {
  readonly onAsk: OnAsk;
  readonly signal: AbortSignal;
  /** Only the questions of this task and those below it. */
  readonly task?: string;
  /** Questions that somebody else answers. */
  readonly isOthers?: (root: string) => boolean;
  /** Told what `onAsk` throws. */
  readonly onError: (error: unknown) => void;
}

/** Calls `onAsk` with each question, those that are open already first. Ends with the signal, or with the last of the tasks. */
export async function answerAsks(client: AskClient, options: AnsweringOptions): Promise<void> {
  const { onAsk, signal, task, isOthers = () => false, onError } = options;
  const asked = new Set<string>();
  const ask = async (found: Ask): Promise<void> => {
    if (asked.has(found.id) || isOthers(found.root)) return;
    asked.add(found.id);
    const shown = runAsk(client, found);
    const answer: AskAnswer = await onAsk(shown);
    if (answer !== undefined) await shown.answer(answer);
  };
  const settle = (found: Ask | undefined): void => {
    if (found !== undefined) ask(found).catch(onError);
  };
  for (const { id } of await client.asks(task)) settle(await stillOpen(client, id));
  for await (const each of client.follow({ ...(task === undefined ? {} : { task }), signal })) {
    if ("event" in each && each.event.type === "ask.raised") settle(await stillOpen(client, each.event.data.ask.id));
  }
}
