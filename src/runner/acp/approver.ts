// Decides what a session may do: by the approval policy, else by a person who is asked while the session waits.

import { approvalOutcome, type ApprovalSource, type CallEffect, decideCalls } from "../../core/approval.ts";
import { Answer } from "../../protocol/task/ask.ts";
import type { DuringStep } from "../../ports.ts";

export interface Wanted {
  /** The name that rules for tools use. */
  readonly tool: string;
  readonly effect: CallEffect;
  readonly question: () => string;
  readonly details: Readonly<Record<string, unknown>>;
}

export type Verdict = { readonly allowed: true } | { readonly allowed: false; readonly reason: string };

export class Approver {
  readonly #during: DuringStep;
  readonly #sources: readonly ApprovalSource[];
  #count = 0;
  #open = 0;
  #turn = new AbortController();

  constructor(during: DuringStep, sources: readonly ApprovalSource[]) {
    this.#during = during;
    this.#sources = sources;
  }

  /** Whether a person is being asked right now. */
  get isAsking(): boolean {
    return this.#open > 0;
  }

  /** Withdraws what is asked: the prompt it belongs to was canceled. */
  withdrawAll(): void {
    this.#turn.abort();
    this.#turn = new AbortController();
  }

  async decide({ tool, effect, question, details }: Wanted): Promise<Verdict> {
    const [judgement] = decideCalls([{ tool, effect }], this.#sources);
    if (judgement === undefined || judgement.verdict === "run") return { allowed: true };
    if (judgement.verdict === "refuse") return { allowed: false, reason: judgement.reason };
    this.#count += 1;
    this.#open += 1;
    try {
      const waited = await this.#during.ask(`permission${this.#count}`, {
        ask: {
          kind: "approval",
          question: question(),
          details: { ...details, ...effect, reason: judgement.reason, rule: judgement.rule },
        },
        schema: Answer,
        signal: this.#turn.signal,
      });
      const outcome = approvalOutcome(waited);
      return outcome.approved ? { allowed: true } : { allowed: false, reason: outcome.reason };
    } finally {
      this.#open -= 1;
    }
  }
}
