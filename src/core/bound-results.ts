// Keeps the joined results of many tasks within a limit: short ones stay whole, the longest are cut and say where the rest is.

import type { AgentResult } from "../protocol/invocation/invocation-result.ts";

/** In characters of all contents together. Everybody who joins them keeps a copy. */
const mostTogether = 4_000_000;

export function boundResults(results: readonly AgentResult[], most = mostTogether): AgentResult[] {
  const lengths = results.map(({ content }) => lengthOf(content));
  const total = lengths.reduce((sum, length) => sum + length, 0);
  if (total <= most) return [...results];
  const share = fairShare(lengths, most);
  return results.map((result, index) => {
    const length = lengths[index] ?? 0;
    return length <= share ? result : { ...result, content: cut(result, share, length), whole_length: length };
  });
}

function lengthOf(content: unknown): number {
  return typeof content === "string" ? content.length : (JSON.stringify(content)?.length ?? 0);
}

/** The length to which results have to be cut so that all of them fit: what short ones leave is for the long ones. */
function fairShare(lengths: readonly number[], most: number): number {
  let [left, count] = [most, lengths.length];
  for (const length of lengths.toSorted((one, other) => one - other)) {
    if (length > left / count) break;
    left -= length;
    count -= 1;
  }
  return Math.floor(left / count);
}

function cut({ content, task_id }: AgentResult, share: number, length: number): string {
  const text = typeof content === "string" ? content : JSON.stringify(content);
  const shown = text.slice(0, share).toWellFormed();
  return `${shown}\n[… cut after ${share} of ${length} characters; the result of the task ${task_id} has all of them …]`;
}
