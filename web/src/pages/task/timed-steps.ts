// When each recorded step of a task ran: from what happened before it until its outcome.

import type { TaskEvent } from "../../../../src/client/index.ts";

export interface TimedStep {
  /** Of the event that tells its outcome. */
  readonly seq: number;
  readonly key: string;
  readonly from: number;
  readonly to: number;
  readonly outcome: "ok" | "failed" | "unknown";
  readonly tokens: number;
  readonly money: number;
  readonly attempt: number;
}

/**
 * An outcome is recorded when a step ends, so a step counts from the event before it: nothing was recorded in between. Time
 * in which a person was asked belongs to no step.
 */
export function timedSteps(events: readonly TaskEvent[]): readonly TimedStep[] {
  const steps: TimedStep[] = [];
  let before: number | undefined;
  for (const event of events) {
    const from = before ?? event.at;
    before = event.at;
    const attempt = event.attempt ?? 1;
    if (event.type === "step.finished") {
      const { key, outcome, tokens, money_micro_usd: money } = event.data;
      steps.push({ seq: event.seq, key, from, to: event.at, outcome, tokens, money, attempt });
    } else if (event.type === "message.added" && event.data.step !== undefined) {
      const { key, tokens, money_micro_usd } = event.data.step;
      steps.push({
        seq: event.seq,
        key,
        from,
        to: event.at,
        outcome: "ok",
        tokens,
        money: money_micro_usd ?? 0,
        attempt,
      });
    }
  }
  return steps;
}
