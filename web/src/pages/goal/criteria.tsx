// The acceptance criteria of a goal, each with its state and what proves it.

import type { ReactNode } from "react";

import type { GoalReport, GoalView } from "../../../../src/client/index.ts";
import { Card } from "../../ui/controls.tsx";
import { Sentence } from "../../ui/outside-text.tsx";
import { StateMark } from "../../ui/state-mark.tsx";

export function Criteria({
  goal,
  report,
  onEvidence,
}: {
  readonly goal: GoalView;
  readonly report: GoalReport | undefined;
  readonly onEvidence: (evidence: string) => void;
}): ReactNode {
  const met = goal.acceptance.filter(({ state }) => state === "met").length;
  return (
    <Card
      title="Acceptance criteria"
      end={
        <span className="count">
          {met} of {goal.acceptance.length}
        </span>
      }
      flush
    >
      {goal.acceptance.length === 0 ? (
        <p className="empty small">No criteria: the goal is done when every task is verified.</p>
      ) : (
        goal.acceptance.map((criterion) => {
          const told = report?.criteria.find(({ id }) => id === criterion.id);
          return (
            <div key={criterion.id} className="item">
              <StateMark state={criterion.state} bare />
              <div className="col tightest grow">
                <span>
                  <Sentence text={criterion.text} />
                </span>
                <span className="tiny faint">
                  {criterion.from === "person"
                    ? "by a person"
                    : criterion.confirmed
                      ? "by a model, confirmed"
                      : "by a model, not confirmed"}
                </span>
                {/* The reason of what is met repeats the proof below it. */}
                {told === undefined || criterion.state === "met" ? null : (
                  <span className="small soft">
                    <Sentence text={told.reason} />
                  </span>
                )}
                {told?.proof.map((proof) => (
                  <ProofLink key={proof.id} proof={proof} onEvidence={onEvidence} />
                ))}
              </div>
            </div>
          );
        })
      )}
    </Card>
  );
}

export function ProofLink({
  proof,
  onEvidence,
}: {
  readonly proof: GoalReport["criteria"][number]["proof"][number];
  readonly onEvidence: (evidence: string) => void;
}): ReactNode {
  return (
    <button type="button" className="proof" onClick={() => onEvidence(proof.id)}>
      <StateMark state={proof.verdict} bare />
      <span className="grow">
        <Sentence text={proof.text} />
      </span>
    </button>
  );
}
