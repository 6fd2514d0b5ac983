// A review as people read it: the verdict, how sure the reviewer is, and what it found.

import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

import type { TaskEvent } from "../../../src/client/index.ts";
import type { Review } from "../../../src/protocol/index.ts";
import { Facts, Meter } from "../ui/controls.tsx";
import { Words } from "../ui/outside-text.tsx";
import { StateMark } from "../ui/state-mark.tsx";

type Fact = Extract<TaskEvent, { type: "evidence.added" }>["data"]["evidence"]["fact"];
type ReviewFact = Extract<Fact, { kind: "review" }>;

/** A review as Tutti recorded it about a task. */
export function ReviewEnvelope({ fact }: { readonly fact: ReviewFact }): ReactNode {
  return (
    <div className="col">
      <Facts
        rows={[
          ["Verdict", <StateMark key="v" state={fact.gate} />],
          ["Confidence", <Confidence key="c" conf={fact.conf} />],
          [
            "Reviewer",
            <Link key="r" to="/tasks/$task" params={{ task: fact.reviewer }} className="mono">
              {fact.reviewer}
            </Link>,
          ],
          [
            "Model",
            <span key="m">
              <code>
                <Words text={fact.model} />
              </code>
              {fact.same_model ? <span className="warn"> the author’s own, so it proves nothing alone</span> : null}
            </span>,
          ],
        ]}
      />
      <Points title="Reasons" points={fact.findings} />
    </div>
  );
}

/** A review as the reviewer sent it. Every part of it may be absent, and none of it is known to be true. */
export function SentReview({ review: { review } }: { readonly review: Review }): ReactNode {
  return (
    <div className="col">
      <Facts
        rows={[
          ["Verdict", review.gate === undefined ? "none was given" : <Verdict key="v" gate={review.gate} />],
          ["Confidence", review.conf === undefined ? "none was given" : <Confidence key="c" conf={review.conf} />],
        ]}
      />
      <Points title="Reasons" points={review.findings ?? []} />
      {review.required === undefined || review.required.length === 0 ? null : (
        <Points title="Must be changed" points={review.required} />
      )}
    </div>
  );
}

function Verdict({ gate }: { readonly gate: string }): ReactNode {
  return /^(?:approve|revise|escalate)$/.test(gate) ? <StateMark state={gate} /> : <Words text={gate} />;
}

function Confidence({ conf }: { readonly conf: number }): ReactNode {
  const percent = Math.round(conf * 100);
  return (
    <span className="row">
      <span className="num">{percent} %</span>
      <span className="grow confidence">
        <Meter value={conf} of={1} label={`Confidence: ${percent} %`} tone="good" />
      </span>
    </span>
  );
}

function Points({ title, points }: { readonly title: string; readonly points: readonly string[] }): ReactNode {
  return (
    <>
      <span className="label">{title}</span>
      {points.length === 0 ? (
        <p className="small soft">The reviewer gave none.</p>
      ) : (
        <ul className="points">
          {points.map((point, index) => (
            <li key={index}>
              <Words text={point} />
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
