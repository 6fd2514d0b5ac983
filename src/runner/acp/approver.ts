// Decides what a session may do: by the approval policy, else by a person who is asked while the session waits.

import {
  approvalOutcome,
  type ApprovalSource,
  type CallEffect,
  decideCalls,
  type JudgedCall,
} from "../../core/approval.ts";
import { Answer } from "../../protocol/task/ask.ts";
import type { DuringStep } from "../../ports.ts";

export interface Wanted extends JudgedCall {
  /** What the call is besides, under the names of other tools. The strictest judgement decides about all of it. */
  readonly also?: readonly JudgedCall[];
  readonly question: () => string | Promise<string>;
  readonly details: Readonly<Record<string, unknown>>;
}

export type Verdict = { readonly allowed: true } | { readonly allowed: false; readonly reason: string };

export class Approver {
  readonly #during: DuringStep;
  readonly #sources: readonly ApprovalSource[];
  #count = 0;
  #open = 0;
  /** Nobody is asked outside of a prompt. */
  #turn: AbortController | undefined;

  constructor(during: DuringStep, sources: readonly ApprovalSource[]) {
    this.#during = during;
    this.#sources = sources;
  }

  /** Whether a person is being asked right now. */
  get isAsking(): boolean {
    return this.#open > 0;
  }

  beginTurn(): void {
    this.endTurn();
    this.#turn = new AbortController();
  }

  /** Withdraws what is asked: the prompt it belongs to was answered or canceled. */
  endTurn(): void {
    this.#turn?.abort();
    this.#turn = undefined;
  }

  async decide({ tool, effect, also = [], question, details }: Wanted): Promise<Verdict> {
    const judgements = decideCalls([{ tool, effect }, ...also], this.#sources);
    const judgement =
      judgements.find(({ verdict }) => verdict === "refuse") ?? judgements.find(({ verdict }) => verdict === "ask");
    if (judgement === undefined || judgement.verdict === "run") return { allowed: true };
    if (judgement.verdict === "refuse") return { allowed: false, reason: judgement.reason };
    const turn = this.#turn?.signal;
    if (turn === undefined) return { allowed: false, reason: "nobody is asked while no prompt is open" };
    this.#count += 1;
    const name = `permission${this.#count}`;
    this.#open += 1;
    try {
      const text = await question();
      if (turn.aborted) return tooLate;
      const reached: CallEffect = {
        ...effect,
        effects: [...new Set([effect, ...also.map((each) => each.effect)].flatMap(({ effects }) => effects))],
      };
      const waited = await this.#during.ask(name, {
        ask: {
          kind: "approval",
          question: text,
          details: { ...details, ...reached, reason: judgement.reason, rule: judgement.rule },
        },
        schema: Answer,
        signal: turn,
      });
      // The answer and the end of the prompt can meet.
      if (turn.aborted) return tooLate;
      const outcome = approvalOutcome(waited);
      return outcome.approved ? { allowed: true } : { allowed: false, reason: outcome.reason };
    } finally {
      this.#open -= 1;
    }
  }
}

const tooLate: Verdict = { allowed: false, reason: "the prompt it belongs to is over" };
