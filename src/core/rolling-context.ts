// What the manager remembers of a conversation: the latest rounds word for word, and a summary of those before.

import { z } from "zod";

import { capText } from "./cap-text.ts";
import { mentionedIds } from "./mentioned-ids.ts";

/** What a person said and what came of it. */
export const Round = z.object({
  user: z.string(),
  reply: z.string(),
  /** The verbs that were used, one line each. */
  verbs: z.array(z.string()),
  /** A session's output was read in it, so that its words may come from a session. */
  held: z.boolean(),
});
export type Round = z.infer<typeof Round>;

export const RollingContext = z.object({
  /** Empty as long as nothing was summarised. */
  summary: z.string(),
  /** A round with a session's output is part of the summary. */
  summary_held: z.boolean(),
  /** The oldest first. */
  rounds: z.array(Round),
});
export type RollingContext = z.infer<typeof RollingContext>;

export interface ContextLimits {
  /** How many rounds are kept word for word. */
  readonly window: number;
  /** In tokens, for all of a request: prompt, summary, rounds and the message. */
  readonly budget: number;
}

export const contextLimits: ContextLimits = { window: 10, budget: 24_000 };

const longestSummary = 12_000;
const mostIds = 500;
const bytesPerToken = 4;

export const emptyContext: RollingContext = { summary: "", summary_held: false, rounds: [] };

/** Whether words of a session may be in what the manager sees before a turn begins. */
export function holdsSessionOutput({ summary_held, rounds }: RollingContext): boolean {
  return summary_held || rounds.some(({ held }) => held);
}

/** An estimate from the content itself; `around` is what is sent beside the context. */
export function contextTokens({ summary, rounds }: RollingContext, around: string): number {
  const texts = [around, summary, ...rounds.map(roundText)];
  return Math.ceil(texts.reduce((sum, text) => sum + byteLength(text), 0) / bytesPerToken);
}

/** How many of the oldest rounds have to go into the summary. The last round never has to. */
export function roundsToFold(context: RollingContext, around: string, limits = contextLimits): number {
  let count = 0;
  for (; count < context.rounds.length - 1; count += 1) {
    const rounds = context.rounds.slice(count);
    if (rounds.length <= limits.window && contextTokens({ ...context, rounds }, around) <= limits.budget) break;
  }
  return count;
}

/** Replaces the oldest rounds by `words`. An id that the words have lost is added to them. */
export function foldRounds(context: RollingContext, count: number, words: string): RollingContext {
  const folded = context.rounds.slice(0, count);
  const ids = mentionedIds([context.summary, ...folded.map(roundText)].join("\n"));
  const told = capText(words.trim(), longestSummary);
  const kept = new Set(mentionedIds(told));
  const lost = ids.filter((id) => !kept.has(id)).slice(-mostIds);
  return {
    summary: lost.length === 0 ? told : `${told}\nAlso mentioned: ${lost.join(", ")}`,
    summary_held: context.summary_held || folded.some(({ held }) => held),
    rounds: context.rounds.slice(count),
  };
}

const longestTold = 200;

/** Stands for a summary when no model could write one. */
export function wordsWithoutModel({ summary, rounds }: RollingContext, count: number): string {
  const said = rounds.slice(0, count).map(({ user }) => `The person said: ${capText(user, longestTold)}`);
  return [summary, ...said]
    .filter((text) => text !== "")
    .join("\n")
    .slice(-longestSummary);
}

/** The request for a summary. */
export function foldPrompt({ summary, rounds }: RollingContext, count: number): string {
  return [
    `Summary so far: ${summary === "" ? "none yet" : summary}`,
    "Rounds to add to it:",
    ...rounds.slice(0, count).map(roundText),
  ].join("\n\n");
}

function roundText({ user, reply, verbs }: Round): string {
  const used = verbs.length === 0 ? [] : [`Verbs used: ${verbs.join("; ")}`];
  return [`Person: ${user}`, ...used, `Manager: ${reply}`].join("\n");
}

function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}
