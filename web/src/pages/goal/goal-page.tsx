// The page of a goal: its live graph, its criteria with their evidence, its report, and what can be said to it.

import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { type ReactNode, useMemo, useState } from "react";

import type { GoalReport, GoalView, TaskId } from "../../../../src/client/index.ts";
import { useConnection } from "../../api/connection.tsx";
import { useAsks, useGoal, useReport, useTree } from "../../api/queries.ts";
import { useBudget } from "../../api/task-queries.ts";
import { attempt } from "../../api/toasts.tsx";
import { duration, plural } from "../../format/show-time.ts";
import { isEnded, verifiedTasks } from "../../live/fold-goal-view.ts";
import { type LiveTree, workerName } from "../../live/fold-tasks.ts";
import { AskCard } from "../../ui/ask-card.tsx";
import { Card, Dialog, Meter, Tabs, TimeAgo } from "../../ui/controls.tsx";
import { Words } from "../../ui/outside-text.tsx";
import { StateMark } from "../../ui/state-mark.tsx";
import { Pending } from "../problem-pages.tsx";
import { Running } from "../running.tsx";
import { Criteria } from "./criteria.tsx";
import { TreeBars } from "../../ui/budget-bars.tsx";
import { EvidenceDialog } from "./evidence-dialog.tsx";
import { FollowUp } from "./follow-up.tsx";
import { GoalGraph } from "./goal-graph.tsx";
import { GoalReportView } from "./goal-report-view.tsx";
import { GoalTasks } from "./goal-tasks.tsx";

const views = [
  { id: "graph", title: "Graph" },
  { id: "tasks", title: "Tasks" },
  { id: "report", title: "Report" },
] as const;
type View = (typeof views)[number]["id"];

export function GoalPage(): ReactNode {
  const { goal: id } = useParams({ from: "/goals/$goal" });
  const search = useSearch({ from: "/goals/$goal" });
  const navigate = useNavigate();
  const goal = useGoal(id);
  const tree = useTree(goal.data?.task);
  const report = useReport(id, goal.data?.updated_at);
  const budget = useBudget(goal.data?.task, goal.data !== undefined && !isEnded(goal.data.status)).data;
  // Routes that were decided before this page was opened stand in the report.
  const workers = useMemo(() => workersIn(report.data), [report.data]);
  if (goal.data === undefined) return <Pending error={goal.error} />;
  const view: View = views.find((each) => each.id === search.view)?.id ?? "graph";
  const choose = (next: View): void =>
    void navigate({ to: "/goals/$goal", params: { goal: id }, search: { view: next } });
  const show = (evidence: string): void =>
    void navigate({ to: "/goals/$goal", params: { goal: id }, search: { ...search, evidence } });
  return (
    <div className="page">
      <GoalHead goal={goal.data} tree={tree.data} report={report.data} />
      <GoalAsks task={goal.data.task} />
      <div className="two">
        <div className="col loose">
          <Tabs tabs={views} chosen={view} onChoose={choose} label="Parts of the goal" />
          {view === "graph" ? (
            <div className="card graph" role="region" aria-label="Graph of the tasks">
              {tree.data === undefined ? (
                <Pending error={tree.error} />
              ) : goal.data.plan.length === 0 && tree.data.tasks.size <= 1 ? (
                <p className="empty">
                  {goal.data.status === "blocked"
                    ? "Nothing is begun before you have answered. The tasks of the plan appear here then."
                    : "The manager is making a plan. Its tasks appear here."}
                </p>
              ) : (
                <GoalGraph goal={goal.data} tree={tree.data} workers={workers} />
              )}
            </div>
          ) : view === "tasks" ? (
            <GoalTasks goal={goal.data} tree={tree.data} workers={workers} />
          ) : report.data === undefined ? (
            <Pending error={report.error} />
          ) : (
            <GoalReportView report={report.data} onEvidence={show} />
          )}
        </div>
        <div className="col loose">
          <Criteria goal={goal.data} report={report.data} onEvidence={show} />
          <Card title="Use">
            <div className="col">
              {budget === undefined ? null : (
                <TreeBars
                  tree={budget.tree}
                  used={{
                    money: tree.data?.money_micro_usd ?? budget.tree.money_micro_usd.used,
                    tokens: tree.data?.tokens ?? budget.tree.tokens.used,
                    tasks: tree.data?.tasks.size ?? budget.tree.tasks.used,
                  }}
                />
              )}
            </div>
          </Card>
          <FollowUp goal={goal.data} />
        </div>
      </div>
      {search.evidence === undefined ? null : (
        <EvidenceDialog
          evidence={search.evidence}
          onClose={() => void navigate({ to: "/goals/$goal", params: { goal: id }, search: { view } })}
        />
      )}
    </div>
  );
}

function workersIn(report: GoalReport | undefined): ReadonlyMap<TaskId, string> {
  const routed = report?.tasks ?? [];
  return new Map(
    routed.flatMap(({ task, route }) => (task === null || route === null ? [] : [[task, workerName(route)] as const])),
  );
}

function GoalHead({
  goal,
  tree,
  report,
}: {
  readonly goal: GoalView;
  readonly tree: LiveTree | undefined;
  readonly report: GoalReport | undefined;
}): ReactNode {
  const ended = isEnded(goal.status);
  const { verified, planned } = verifiedTasks(goal);
  const text = `${verified} of ${plural(planned, "task")} verified`;
  // A full bar would say of a goal that was not reached that it was.
  const isLost = ended && goal.status !== "done";
  return (
    <header className="page-head">
      <div className="row folding">
        <StateMark state={goal.status} />
        <span className="mono tiny faint">{goal.id}</span>
        {report?.rehearsal === true ? (
          <span className="tag">{report.called ? "Rehearsal in part" : "Rehearsal: no model was asked"}</span>
        ) : null}
        <span className="grow" />
        {ended ? null : <CancelGoal goal={goal} />}
      </div>
      <h1>
        <Words text={goal.text} />
      </h1>
      <p className="soft">
        <Words text={goal.reason} />
      </p>
      {isLost ? null : <Meter value={goal.progress} of={100} label={text} tone="good" />}
      <p className="small soft num">
        {text}
        {tree === undefined ? null : ` · ${tree.unfinished} open`} ·{" "}
        {ended ? duration(goal.updated_at - goal.created_at) : <Running since={goal.created_at} />} · started{" "}
        <TimeAgo at={goal.created_at} />
        {goal.roots[0] === undefined ? null : (
          <>
            {" "}
            in <code>{goal.roots[0]}</code>
          </>
        )}
      </p>
    </header>
  );
}

function GoalAsks({ task }: { readonly task: string }): ReactNode {
  const asks = useAsks().data?.filter(({ root }) => root === task) ?? [];
  if (asks.length === 0) return null;
  return (
    <Card title="Needs you" end={<span className="count needs">{asks.length}</span>} flush>
      {asks.slice(0, 10).map((ask) => (
        <AskCard key={ask.id} ask={ask} showsGoal={false} />
      ))}
    </Card>
  );
}

function CancelGoal({ goal }: { readonly goal: GoalView }): ReactNode {
  const { tutti } = useConnection();
  const [asks, setAsks] = useState(false);
  const cancel = async (): Promise<void> => {
    setAsks(false);
    await attempt(() => tutti.cancel(goal.task, "canceled from the dashboard"), "The goal was canceled.");
  };
  return (
    <>
      <button type="button" className="button danger tight" onClick={() => setAsks(true)}>
        Cancel goal
      </button>
      {asks ? (
        <Dialog title="Cancel this goal?" onClose={() => setAsks(false)}>
          <p>
            All of its tasks end now, also those that are at work. Their branches stay, and a canceled goal cannot go
            on.
          </p>
          <div className="dialog-end">
            <button type="button" className="button" onClick={() => setAsks(false)}>
              Keep it
            </button>
            <button type="button" className="button danger filled" onClick={() => void cancel()}>
              Cancel the goal
            </button>
          </div>
        </Dialog>
      ) : null}
    </>
  );
}
