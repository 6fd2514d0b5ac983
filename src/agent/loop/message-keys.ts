// The keys under which the loop records messages that it must recognise again by their ids.

/**
 * When a conversation is shortened: at the end of a turn, before the first request of a run, or when the request of a turn
 * was refused as too long. One turn may have all three.
 */
export type Occasion = "turn" | "opening" | "overflow";

export function summaryKey(turn: number, occasion: Occasion): string {
  return occasion === "turn" ? `summary:${turn}` : `summary:${turn}.${occasion}`;
}

export function isSummary(id: string): boolean {
  return /\.summary:\d+(?:\.(?:opening|overflow))?$/.test(id);
}

/** Feedback on a reply that could not be read or used. */
export function feedbackKey(turn: number): string {
  return `feedback:${turn}`;
}

/** What the model is told about the form of calls that ran. */
export function driftKey(turn: number): string {
  return `feedback:${turn}.form`;
}

export function isFeedback(id: string): boolean {
  return /\.feedback:\d+(?:\.form)?$/.test(id);
}
