// What is recorded of a session: what the next process of it needs to know, and how a process of it ended.

import { z } from "zod";

import { nothingCounted } from "./session-updates.ts";

export const SessionOutcome = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("done"), text: z.string() }),
  /** The agent's own usage limit is reached; nothing can be done before that time. */
  z.object({ kind: z.literal("limit"), until: z.number() }),
  /** A limit of the task's budget was reached, and the agent did not stop when it was told to. */
  z.object({ kind: z.literal("cut") }),
]);
export type SessionOutcome = z.infer<typeof SessionOutcome>;

/** What the next process of the same session needs to know. */
export const SessionState = z.object({
  /** Which process it is, from 1. */
  process: z.int(),
  /** The session's id at the agent; null before there is one. */
  session: z.string().nullable(),
  /** Whether the agent can take a session up again. */
  load: z.boolean(),
  /** Prompts that were delivered. */
  prompts: z.int(),
  counted: z.object({ input: z.number(), output: z.number(), micros: z.number() }),
});
export type SessionState = z.infer<typeof SessionState>;

export const newSession: SessionState = { process: 1, session: null, load: false, prompts: 0, counted: nothingCounted };

export interface SessionTimes {
  /** For the answer to a request other than a prompt. */
  readonly answerMs: number;
  /** Silence after which a person is asked. */
  readonly stallMs: number;
  /** Between the request to cancel and the end of the processes. */
  readonly cancelMs: number;
  /** Between asking the processes to end and killing them. */
  readonly graceMs: number;
}

export const defaultTimes: SessionTimes = { answerMs: 60_000, stallMs: 10 * 60_000, cancelMs: 3_000, graceMs: 2_000 };
