// One attempt of an assignment while it is driven: where its handoff stands, what came of its work, and the evidence so far.

import { createHash } from "node:crypto";

import {
  advanceHandoff,
  type HandoffEvent,
  type HandoffState,
  type HandoffStep,
  newHandoffState,
} from "../../core/handoff-machine.ts";
import { type EvidenceCase, judgeEvidence, type Judgement } from "../../core/judge-evidence.ts";
import { lacksOnlyJudge } from "../../core/lacks-judge.ts";
import { makeEvidence } from "../../core/make-evidence.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { Handoff } from "../../protocol/routing/handoff.ts";
import { effectiveThreshold } from "../../protocol/routing/route-handoff.ts";
import type { AssignmentConfig } from "../../protocol/task/assignment.ts";
import type { Evidence, EvidenceFact } from "../../protocol/task/evidence.ts";
import type { Durable, OwnEvent } from "../../ports.ts";
import type { Carried } from "./config.ts";
import type { Observed, Worked } from "./attempt-records.ts";
import type { AssignmentOptions, GoalPolicy } from "./assignment-options.ts";

/** One attempt while it is driven. */
export class Attempt {
  readonly durable: Durable;
  readonly options: AssignmentOptions;
  readonly config: AssignmentConfig & { readonly carried: Carried | undefined };
  readonly routing: GoalPolicy;
  state: HandoffState;
  handoff: Handoff;
  /** Why the task stands where it stands. */
  reason = "";
  /** The task's loop was cut off in this work or after it, and goes on there. */
  isRestored = false;
  worked: Worked | undefined;
  observed: Observed | undefined;
  /** Who ended the whole goal when asked about this work. */
  endedBy: string | undefined;
  /** A review that lacked its confidence. */
  unsure: string | undefined;
  readonly evidence: Evidence[] = [];
  /** After the work, keys do not depend on what came before it: a restart does not go through that again. */
  #stage = "before";
  #count = 0;

  constructor(durable: Durable, options: AssignmentOptions, config: Attempt["config"]) {
    this.durable = durable;
    this.options = options;
    this.config = config;
    this.routing = options.policyOf(durable, config);
    this.state = config.carried?.state ?? newHandoffState;
    this.handoff = config.carried?.handoff ?? config.handoff;
  }

  beginAfterWork(worked: Worked): void {
    this.worked = worked;
    this.#stage = "after";
    this.#count = 0;
  }

  key(what: string): string {
    this.#count += 1;
    return `assigned.${this.#stage}${this.#count}.${what}`;
  }

  tell(event: OwnEvent): void {
    this.durable.tell(this.key("told"), event);
  }

  get threshold(): number {
    return this.state.routed?.threshold ?? effectiveThreshold(this.routing.policy, this.handoff);
  }

  /** The commit that the work of all attempts began with. */
  get base(): string | null {
    return this.config.carried?.base ?? this.worked?.saved?.base ?? null;
  }

  /** The next step is recorded as an event, unless the event changed nothing, which must not happen here. */
  advance(event: HandoffEvent): HandoffStep {
    const step = advanceHandoff(this.routing.policy, this.state, event);
    const { transition } = step;
    if (transition === undefined) throw new TuttiError("internal", `the handoff cannot go on: "${event.type}"`);
    this.state = step.state;
    this.reason = transition.reason;
    this.tell({ type: "handoff.moved", data: transition });
    return step;
  }

  add(
    fact: EvidenceFact,
    about: { at: number; source?: string; criteria?: string[] },
    said?: Evidence["verdict"],
  ): void {
    const { task, attempt } = this.durable;
    const made = makeEvidence(
      {
        id: `evd_${task.replace(/^tsk_/, "")}-${attempt}.${this.evidence.length + 1}`,
        task,
        attempt,
        source: about.source ?? "tutti",
        commit: this.observed?.commit ?? this.worked?.saved?.tip ?? null,
        tree: this.observed?.tree ?? null,
        criteria: about.criteria ?? [],
        observed_at: about.at,
      },
      fact,
      said,
    );
    this.evidence.push(made);
    this.tell({ type: "evidence.added", data: { evidence: made } });
  }

  /** By what Tutti observed alone. An approval by the author's own model proves nothing, so it is left out. */
  judge(criteria: EvidenceCase["criteria"] = []): Judgement {
    return judgeEvidence({ ...this.#case(), criteria });
  }

  /** What is missing of work that only somebody else has to judge, where the goal asks about all of that at its end. */
  get unjudged(): string | undefined {
    const isDone = this.state.phase === "done" && this.worked?.failure === null;
    if (!isDone || !this.config.judged_at_end || this.judge().verdict === "verified") return undefined;
    return lacksOnlyJudge(this.#case()) ? this.judge().reason : undefined;
  }

  #case(): EvidenceCase {
    return {
      evidence: this.evidence.filter(
        ({ fact }) => fact.kind !== "review" || fact.gate !== "approve" || !fact.same_model,
      ),
      criteria: [],
      commit: this.observed?.commit ?? null,
      tree: this.observed?.tree ?? null,
      findings: this.observed?.findings ?? [],
      minConfidence: this.threshold,
    };
  }
}

/** The claim as text, as far as people and models are shown it. */
export function claimText({ claim }: Pick<Worked, "claim">): string {
  return typeof claim === "string" ? claim : (JSON.stringify(claim) ?? "");
}

export function hashOf(value: unknown): string {
  return createHash("sha256")
    .update(JSON.stringify(value) ?? "")
    .digest("hex")
    .slice(0, 16);
}
