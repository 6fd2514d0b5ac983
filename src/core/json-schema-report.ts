// What a check of a value against a JSON Schema has found so far, and how much work it may still do.

import type { ReadIssue } from "../protocol/lenient-read.ts";

/** One schema, compiled. It notes in the report what does not fit. */
export type Node = (value: unknown, path: string, report: Report) => void;

/** How deep schemas may lie in each other, and values. */
export const deepest = 200;
const mostIssues = 50;
/** Schemas that are looked at, plus the cost of matching patterns; some seconds at the very most, usually nothing. */
const mostWork = 100_000_000;
const workOfSchema = 200;

/** Thrown to leave a check that would take too long. */
export class TooMuchWork {}

export class Report {
  readonly issues: ReadIssue[] = [];
  readonly #shared: { work: number; depth: number };

  constructor(shared = { work: 0, depth: 0 }) {
    this.#shared = shared;
  }

  /** For alternatives: has issues of its own and counts the same work. */
  aside(): Report {
    return new Report(this.#shared);
  }

  add(path: string, message: string): void {
    if (this.issues.length < mostIssues) this.issues.push({ path, message });
  }

  spend(work: number): void {
    this.#shared.work += work;
    if (this.#shared.work > mostWork) throw new TooMuchWork();
  }

  enter(): void {
    this.spend(workOfSchema);
    this.#shared.depth += 1;
    if (this.#shared.depth > deepest) throw new TooMuchWork();
  }

  leave(): void {
    this.#shared.depth -= 1;
  }
}

/** What does not fit is not reported. */
export function fits(node: Node, value: unknown, report: Report): boolean {
  const aside = report.aside();
  node(value, "", aside);
  return aside.issues.length === 0;
}
