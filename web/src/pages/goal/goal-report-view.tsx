// The report of a goal: what was asked, what proves it, what is not proven, and what it cost.

import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

import type { GoalReport } from "../../../../src/client/index.ts";
import { count, money, plural } from "../../format/show-time.ts";
import { Card, Facts } from "../../ui/controls.tsx";
import { Sentence, Words } from "../../ui/outside-text.tsx";
import { StateMark } from "../../ui/state-mark.tsx";
import { ProofLink } from "./criteria.tsx";

export function GoalReportView({
  report,
  onEvidence,
}: {
  readonly report: GoalReport;
  readonly onEvidence: (evidence: string) => void;
}): ReactNode {
  const current = report.tasks.filter(({ state }) => state !== "superseded");
  const verified = current.filter(({ state }) => state === "verified").length;
  return (
    <div className="col loose" aria-label="Report" role="region">
      <Card title="Report" end={<StateMark state={report.status} />}>
        <div className="col">
          <p>
            <Sentence text={report.reason} />
          </p>
          <Facts
            rows={[
              ["Verified", `${verified} of ${plural(current.length, "task")}`],
              ["Rounds", report.rounds],
              [
                "Cost",
                `${money(report.money_micro_usd)}${report.unpriced ? " or more: a price is not known" : ""}, ${count(report.tokens)} tokens`,
              ],
              ...(report.integration === null
                ? []
                : [["Result", <code key="b">{report.integration.branch ?? report.integration.commit}</code>] as const]),
            ]}
          />
          {report.rehearsal ? (
            <p className="small warn">
              {report.called
                ? "A script played some of the models, and others were called."
                : "This was a rehearsal: a script played the models."}
            </p>
          ) : null}
        </div>
      </Card>
      {report.not_proven.length === 0 ? null : (
        <Card title="Not proven">
          <ul className="col small">
            {report.not_proven.map((line) => (
              <li key={line} className="warn">
                <Sentence text={line} />
              </li>
            ))}
          </ul>
        </Card>
      )}
      <Card title={plural(report.tasks.length, "task")} flush>
        {report.tasks.map((task) => (
          <div key={task.id} className="item">
            <StateMark state={task.state} bare />
            <div className="col tightest grow">
              <span>
                {task.task === null ? (
                  <strong>{task.id}</strong>
                ) : (
                  <Link to="/tasks/$task" params={{ task: task.task }}>
                    <strong>{task.id}</strong>
                  </Link>
                )}{" "}
                <span className="soft">
                  <Sentence text={task.prompt} />
                </span>
              </span>
              <span className="small soft">
                <Sentence text={task.reason} />
              </span>
              {task.proof.map((proof) => (
                <ProofLink key={proof.id} proof={proof} onEvidence={onEvidence} />
              ))}
              <span className="tiny faint num">
                {task.route === null ? "" : `${task.route.model} (${task.route.reason}) · `}
                {plural(task.attempts, "attempt")} · {count(task.tokens)} tokens · {money(task.money_micro_usd)}
                {task.branch === null ? "" : ` · ${task.branch}`}
              </span>
            </div>
          </div>
        ))}
      </Card>
      {report.notes.length === 0 ? null : (
        <Card title="Notes">
          <ul className="col small">
            {report.notes.map((note, index) => (
              <li key={index}>
                <Sentence text={note} />
              </li>
            ))}
          </ul>
        </Card>
      )}
      {report.dropped.length === 0 ? null : (
        <Card title="Not carried out">
          <ul className="col small">
            {report.dropped.map(({ what, reason }, index) => (
              <li key={index}>
                <code>
                  <Words text={what} />
                </code>{" "}
                <Words text={reason} />
              </li>
            ))}
          </ul>
        </Card>
      )}
    </div>
  );
}
