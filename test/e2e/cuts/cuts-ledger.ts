// What the daemon acknowledged to the clients of a run of the cuts, and the faults that were found.

export type FaultKind = "lost" | "doubled" | "out_of_order";

export interface Fault {
  readonly kind: FaultKind;
  readonly text: string;
}

export interface Ledger {
  /** Idempotency key → the task that was acknowledged for it, and what kind of work it is. */
  readonly started: Map<string, { readonly task: string; readonly kind: string }>;
  /** Ask → the answer that was accepted. */
  readonly answers: Map<string, unknown>;
  /** Wait of a client's tool → the value that was accepted. */
  readonly settled: Map<string, string>;
  /** Progress by its text, which no two posts share: where it was posted, and whether that was acknowledged. */
  readonly progress: Map<string, { readonly task: string; acknowledged: boolean }>;
  /** What workers have done outside, whether it counted or not. */
  readonly effects: { readonly task: string; readonly attempt: number; readonly text: string }[];
  /** Task → the result a worker was told is recorded. */
  readonly results: Map<string, { readonly attempt: number; readonly text: string }>;
  /** What workers were answered: task, question, value. */
  readonly workerAnswers: { readonly task: string; readonly question: string; readonly value: unknown }[];
  /** Trees that were told to stop, whether they heard it in time or not. */
  readonly canceled: Set<string>;
  readonly faults: Fault[];
  /** How often each thing happened: what the run really met. */
  readonly figures: Record<string, number>;
}

export function newLedger(): Ledger {
  return {
    started: new Map(),
    answers: new Map(),
    settled: new Map(),
    progress: new Map(),
    effects: [],
    results: new Map(),
    workerAnswers: [],
    canceled: new Set(),
    faults: [],
    figures: {},
  };
}

export function count(ledger: Ledger, what: string): void {
  ledger.figures[what] = (ledger.figures[what] ?? 0) + 1;
}

export function fault(ledger: Ledger, kind: FaultKind, text: string): void {
  ledger.faults.push({ kind, text });
}
