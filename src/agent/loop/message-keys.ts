// The keys under which the loop records messages that it must recognise again by their ids.

/** `overflow`: made within the turn because its request was too long, not after it. */
export function summaryKey(turn: number, overflow: boolean): string {
  return overflow ? `summary:${turn}.overflow` : `summary:${turn}`;
}

export function isSummary(id: string): boolean {
  return /\.summary:\d+(?:\.overflow)?$/.test(id);
}

/** Feedback on a reply that could not be read or used. */
export function feedbackKey(turn: number): string {
  return `feedback:${turn}`;
}

export function isFeedback(id: string): boolean {
  return /\.feedback:\d+$/.test(id);
}
