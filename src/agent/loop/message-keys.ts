// The keys under which the loop records messages that it must recognise again by their ids.

export function summaryKey(turn: number): string {
  return `summary:${turn}`;
}

export function isSummary(id: string): boolean {
  return /\.summary:\d+$/.test(id);
}

/** Feedback on a reply that could not be read or used. */
export function feedbackKey(turn: number): string {
  return `feedback:${turn}`;
}

export function isFeedback(id: string): boolean {
  return /\.feedback:\d+$/.test(id);
}
