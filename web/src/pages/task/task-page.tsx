// The page of a task: its transcript as it streams, what it did and why, its changes, and what can be done with it.

import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import type { ReactNode } from "react";

import type { TaskEvent } from "../../../../src/client/index.ts";
import { useAsks, useGoal, useTree } from "../../api/queries.ts";
import { useDecisions, useTranscript } from "../../api/task-queries.ts";
import { count, duration, money, plural } from "../../format/show-time.ts";
import { type LiveTask, workerName } from "../../live/fold-tasks.ts";
import { AskCard } from "../../ui/ask-card.tsx";
import { Card, Tabs, TimeAgo } from "../../ui/controls.tsx";
import { Words } from "../../ui/outside-text.tsx";
import { StateMark } from "../../ui/state-mark.tsx";
import { Running } from "../running.tsx";
import { Pending } from "../problem-pages.tsx";
import { ChangesView } from "./changes-view.tsx";
import { RawEvents } from "./raw-events.tsx";
import { RoutingView } from "./routing-view.tsx";
import { StepsView } from "./steps-view.tsx";
import { TaskActions, TaskMessage } from "./task-actions.tsx";
import { goalOf, TaskBudget } from "./task-budget.tsx";
import { TaskFamily } from "./task-family.tsx";
import { TranscriptView } from "./transcript-view.tsx";

const views = [
  { id: "transcript", title: "Transcript" },
  { id: "changes", title: "Changes" },
  { id: "steps", title: "Steps" },
  { id: "routing", title: "Routing and review" },
  { id: "family", title: "Attempts and tasks" },
  { id: "events", title: "Raw events" },
] as const;
type View = (typeof views)[number]["id"];

export function TaskPage(): ReactNode {
  const { task: id } = useParams({ from: "/tasks/$task" });
  const search = useSearch({ from: "/tasks/$task" });
  const navigate = useNavigate();
  const tree = useTree(id);
  const transcript = useTranscript(id);
  const decisions = useDecisions(id);
  const task = tree.data?.tasks.get(id);
  if (tree.data === undefined || task === undefined) return <Pending error={tree.error} />;
  const view: View = views.find((each) => each.id === search.view)?.id ?? "transcript";
  const prompt = promptOf(task, decisions.data);
  return (
    <div className="page">
      <TaskHead task={task} prompt={prompt} worker={workerOf(decisions.data)} />
      <TaskBudget task={task} />
      <TaskAsks task={id} />
      <div className="col loose">
        <Tabs
          tabs={views}
          chosen={view}
          onChoose={(next) => void navigate({ to: "/tasks/$task", params: { task: id }, search: { view: next } })}
          label="Parts of the task"
        />
        {transcript.data === undefined || decisions.data === undefined ? (
          <Pending error={transcript.error ?? decisions.error} />
        ) : view === "transcript" ? (
          <>
            <TranscriptView key={id} transcript={transcript.data} open={task.ended_at === null} />
            <TaskMessage task={task} />
          </>
        ) : view === "changes" ? (
          <ChangesView task={task} />
        ) : view === "steps" ? (
          <StepsView transcript={transcript.data} />
        ) : view === "routing" ? (
          <RoutingView events={decisions.data} />
        ) : view === "family" ? (
          <TaskFamily tree={tree.data} task={task} events={decisions.data} />
        ) : (
          <RawEvents transcript={transcript.data} />
        )}
      </div>
    </div>
  );
}

function promptOf(task: LiveTask, events: readonly TaskEvent[] = []): string {
  if (task.prompt !== undefined) return task.prompt;
  for (const event of events) {
    if (event.type === "task.created" && event.data.prompt !== undefined) return event.data.prompt;
    if (event.type === "goal.created") return event.data.goal.text;
  }
  return "";
}

/** The newest route of the task. */
function workerOf(events: readonly TaskEvent[] | undefined): string | undefined {
  const route = events?.findLast((event) => event.type === "route.decided");
  return route?.type === "route.decided" ? workerName(route.data) : undefined;
}

function TaskHead({
  task,
  prompt,
  worker,
}: {
  readonly task: LiveTask;
  readonly prompt: string;
  readonly worker: string | undefined;
}): ReactNode {
  return (
    <header className="page-head">
      <Above task={task} />
      <div className="row folding">
        <StateMark state={task.status} />
        <span className="mono tiny faint">{task.id}</span>
        <span className="grow" />
        <TaskActions task={task} />
      </div>
      <h1 className="clamp">
        <Words text={prompt === "" ? task.agent : prompt} />
      </h1>
      <p className="small soft num">
        {task.agent} · {worker ?? task.worker ?? task.runner} · attempt {task.attempt} · {plural(task.steps, "step")} ·{" "}
        {count(task.tokens)} tokens · {money(task.money_micro_usd)} ·{" "}
        {task.ended_at === null ? <Running since={task.created_at} /> : duration(task.ended_at - task.created_at)} ·
        began <TimeAgo at={task.created_at} />
      </p>
    </header>
  );
}

/** The way from the goal, or the root of the tree, down to the task. */
function Above({ task }: { readonly task: LiveTask }): ReactNode {
  const tree = useTree(task.root).data;
  const goal = goalOf(tree);
  const title = useGoal(goal).data?.text;
  if (tree === undefined || (task.parent === null && goal === undefined)) return null;
  const between: LiveTask[] = [];
  for (let at = tree.tasks.get(task.parent ?? ""); at !== undefined && at.parent !== null;) {
    between.unshift(at);
    at = tree.tasks.get(at.parent);
  }
  return (
    <nav className="way small" aria-label="Above this task">
      {goal === undefined ? (
        <Link to="/tasks/$task" params={{ task: task.root }}>
          {tree.tasks.get(tree.root)?.agent ?? "the task above"}
        </Link>
      ) : (
        <Link to="/goals/$goal" params={{ goal }} className="clip">
          <Words text={title ?? "goal"} />
        </Link>
      )}
      {between.map(({ id, agent }) => (
        <Link key={id} to="/tasks/$task" params={{ task: id }}>
          <Words text={agent} />
        </Link>
      ))}
    </nav>
  );
}

function TaskAsks({ task }: { readonly task: string }): ReactNode {
  const asks = useAsks().data?.filter((ask) => ask.task === task) ?? [];
  if (asks.length === 0) return null;
  return (
    <Card title="Needs you" flush>
      {asks.map((ask) => (
        <AskCard key={ask.id} ask={ask} showsGoal={false} />
      ))}
    </Card>
  );
}
