// The fleet: which nodes there are, who works, what waits, what it costs over time, what is slow or stuck, and what fails.

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";

import type { FleetTasks } from "../../../../src/client/index.ts";
import { useConnection } from "../../api/connection.tsx";
import { useStatus } from "../../api/queries.ts";
import { count, duration, money } from "../../format/show-time.ts";
import { BarChart } from "../../ui/bar-chart.tsx";
import { Card, Empty, TimeAgo } from "../../ui/controls.tsx";
import { Words } from "../../ui/outside-text.tsx";
import { StateMark } from "../../ui/state-mark.tsx";
import { Pending } from "../problem-pages.tsx";
import { Nodes, ParkedTasks } from "./nodes-card.tsx";

const windows = ["1h", "6h", "24h", "7d", "30d"] as const;
type Window = (typeof windows)[number];
const often = 5_000;

export function FleetPage(): ReactNode {
  const [window, setWindow] = useState<Window>("24h");
  return (
    <div className="page">
      <header className="row spread folding">
        <h1>Fleet</h1>
        <label className="row small">
          <span className="soft">Over the last</span>
          <select
            className="input pick"
            value={window}
            onChange={(event) => setWindow(windows.find((each) => each === event.target.value) ?? "24h")}
          >
            {windows.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </label>
      </header>
      <Tiles />
      <ParkedTasks />
      <Nodes />
      <Charts window={window} />
      <Sessions />
      <Tasks title="Stuck: nothing was heard of them for longest" order="quietest" window={window} />
      <Tasks title="Slowest" order="slowest" window={window} />
      <Errors window={window} />
      <Operators />
    </div>
  );
}

function Tiles(): ReactNode {
  const status = useStatus();
  if (status.data === undefined) return <Pending error={status.error} />;
  const { tasks, asks, operators, parked } = status.data;
  const tiles = [
    ["Running", tasks.running],
    ["Queued", tasks.pending],
    ["Waiting for a person", tasks.input_required],
    ["Open questions", asks],
    ["Operators online", `${operators.connected} of ${operators.joined}`],
    ["Cannot go on here", parked.length],
  ] as const;
  return (
    <div className="tiles">
      {tiles.map(([title, value]) => (
        <div key={title} className="card tile">
          <strong>{value}</strong>
          <span className="small soft">{title}</span>
        </div>
      ))}
    </div>
  );
}

function Charts({ window }: { readonly window: Window }): ReactNode {
  const { call } = useConnection();
  const series = useQuery({
    queryKey: ["fleet-series", window],
    queryFn: () => call("fleetSeries", { query: { window } }),
    refetchInterval: often,
    placeholderData: (before) => before,
  });
  if (series.data === undefined) return <Pending error={series.error} />;
  const { points } = series.data;
  return (
    <div className="charts">
      <Card>
        <BarChart
          title="Tasks that ended"
          show={count}
          parts={[
            { name: "completed", look: "good" },
            { name: "failed", look: "bad" },
            { name: "canceled", look: "soft" },
          ]}
          points={points.map(({ at, completed, failed, canceled }) => ({ at, values: [completed, failed, canceled] }))}
        />
      </Card>
      <Card>
        <BarChart
          title="Spend"
          show={money}
          parts={[{ name: "money", look: "plain" }]}
          points={points.map(({ at, money_micro_usd }) => ({ at, values: [money_micro_usd] }))}
        />
      </Card>
      <Card>
        <BarChart
          title="Tokens"
          show={count}
          parts={[{ name: "tokens", look: "plain" }]}
          points={points.map(({ at, tokens }) => ({ at, values: [tokens] }))}
        />
      </Card>
      <Card>
        <BarChart
          title="Questions to people"
          show={count}
          parts={[{ name: "questions", look: "plain" }]}
          points={points.map(({ at, asks }) => ({ at, values: [asks] }))}
        />
      </Card>
    </div>
  );
}

const mostSessions = 100;

function Sessions(): ReactNode {
  const { tutti } = useConnection();
  const sessions = useQuery({ queryKey: ["sessions"], queryFn: () => tutti.sessions(), refetchInterval: often });
  return (
    <Card title="Sessions" end={<span className="count">{sessions.data?.length ?? 0}</span>} flush>
      {sessions.data === undefined ? (
        <Pending error={sessions.error} />
      ) : sessions.data.length === 0 ? (
        <Empty title="No session is at work" command={'tutti run "…"'}>
          A goal starts sessions. What each is doing stands here.
        </Empty>
      ) : (
        sessions.data.slice(0, mostSessions).map((session) => (
          <Link key={session.task} to="/tasks/$task" params={{ task: session.task }} className="item">
            <StateMark state={session.activity} bare />
            <span className="col tightest grow">
              <span className="clip">
                <strong>{session.agent}</strong> <Words text={session.summary} />
              </span>
              <span className="tiny faint">
                {session.runner} · attempt {session.attempt}
              </span>
            </span>
            <span className="tiny faint">
              <TimeAgo at={session.last_event_at} />
            </span>
          </Link>
        ))
      )}
    </Card>
  );
}

function Tasks({
  title,
  order,
  window,
}: {
  readonly title: string;
  readonly order: "slowest" | "quietest";
  readonly window: Window;
}): ReactNode {
  const { call } = useConnection();
  const tasks = useQuery({
    queryKey: ["fleet-tasks", order, window],
    queryFn: () => call("fleetTasks", { query: { order, window, limit: 10 } }),
    refetchInterval: often,
    placeholderData: (before) => before,
  });
  return (
    <Card title={title} flush>
      {tasks.data === undefined ? (
        <Pending error={tasks.error} />
      ) : tasks.data.tasks.length === 0 ? (
        <Empty title={order === "quietest" ? "Nothing is under way" : "No task ended in this time"} />
      ) : (
        tasks.data.tasks.map((task) => <TaskRow key={task.task} task={task} />)
      )}
    </Card>
  );
}

function TaskRow({ task }: { readonly task: FleetTasks["tasks"][number] }): ReactNode {
  return (
    <Link to="/tasks/$task" params={{ task: task.task }} className="item">
      <StateMark state={task.status} bare />
      <span className="grow clip">
        <strong>{task.agent}</strong>{" "}
        <span className="soft">
          <Words text={task.title} />
        </span>
      </span>
      <span className="small num">{duration(task.ms)}</span>
    </Link>
  );
}

function Errors({ window }: { readonly window: Window }): ReactNode {
  const { call } = useConnection();
  const errors = useQuery({
    queryKey: ["fleet-errors", window],
    queryFn: () => call("fleetErrors", { query: { window } }),
    refetchInterval: often,
    placeholderData: (before) => before,
  });
  return (
    <Card title="Errors by code" flush>
      {errors.data === undefined ? (
        <Pending error={errors.error} />
      ) : errors.data.errors.length === 0 ? (
        <Empty title="Nothing failed in this time" />
      ) : (
        errors.data.errors.map((error) => (
          <Link key={error.code} to="/tasks/$task" params={{ task: error.task }} className="item">
            <span className="count">{error.count}</span>
            <span className="col tightest grow">
              <code>{error.code}</code>
              <span className="small soft clip">
                <Words text={error.message} />
              </span>
            </span>
            <span className="tiny faint">
              <TimeAgo at={error.last_at} />
            </span>
          </Link>
        ))
      )}
    </Card>
  );
}

function Operators(): ReactNode {
  const { tutti } = useConnection();
  const operators = useQuery({ queryKey: ["operators"], queryFn: () => tutti.operators(), refetchInterval: often });
  return (
    <Card title="Operators" flush>
      {operators.data === undefined ? (
        <Pending error={operators.error} />
      ) : operators.data.length === 0 ? (
        <Empty title="No operator has joined">
          An operator is a person or an agent outside of Tutti that takes tasks over WebSocket and HTTP.
        </Empty>
      ) : (
        operators.data.map((operator) => (
          <div key={operator.sid} className="item">
            <StateMark state={operator.connected ? "working" : "idle"} bare />
            <span className="grow clip">
              <strong>{operator.roles.join(", ") || "without a name"}</strong>{" "}
              <code className="tiny faint">{operator.sid}</code>
            </span>
            <span className="small soft">{operator.pending} waiting</span>
            <span className="tiny faint">
              <TimeAgo at={operator.last_seen} />
            </span>
          </div>
        ))
      )}
    </Card>
  );
}
