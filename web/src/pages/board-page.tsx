// The board: all goals over all projects, in columns by what they wait for.

import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";

import { useBoard } from "../api/queries.ts";
import { money, plural } from "../format/show-time.ts";
import type { BoardGoal } from "../live/fold-board.ts";
import { isEnded } from "../live/fold-goal-view.ts";
import { Empty, Meter, TimeAgo } from "../ui/controls.tsx";
import { Words } from "../ui/outside-text.tsx";
import { StateMark } from "../ui/state-mark.tsx";
import { needsPerson } from "./home/goal-list.tsx";
import { Pending } from "./problem-pages.tsx";

const columns: readonly { readonly title: string; readonly has: (goal: BoardGoal) => boolean }[] = [
  { title: "Needs you", has: needsPerson },
  { title: "Under way", has: (goal) => !isEnded(goal.status) && !needsPerson(goal) },
  { title: "Done", has: ({ status }) => status === "done" },
  { title: "Ended otherwise", has: ({ status }) => status === "failed" || status === "abandoned" },
];

export function BoardPage(): ReactNode {
  const board = useBoard();
  const [folder, setFolder] = useState("");
  if (board.data === undefined) return <Pending error={board.error} />;
  const goals = board.data.goals.filter((goal) => folder === "" || goal.folder === folder);
  return (
    <div className="page wide">
      <header className="row spread folding">
        <h1>Board</h1>
        <label className="row small">
          <span className="soft">Project</span>
          <select className="input pick" value={folder} onChange={(event) => setFolder(event.target.value)}>
            <option value="">all projects</option>
            {board.data.folders.map((each) => (
              <option key={each} value={each}>
                {each}
              </option>
            ))}
          </select>
        </label>
      </header>
      {goals.length === 0 ? (
        <div className="card">
          <Empty title="No goals here" command={'tutti run "…"'}>
            Goals of all projects stand here, by what they wait for. This starts one:
          </Empty>
        </div>
      ) : (
        <div className="board">
          {columns.map(({ title, has }) => {
            const inColumn = goals.filter(has);
            return (
              <section key={title} className="board-column" aria-label={title}>
                <h2>
                  {title} <span className="count">{inColumn.length}</span>
                </h2>
                {inColumn.map((goal) => (
                  <BoardCard key={goal.goal} goal={goal} />
                ))}
              </section>
            );
          })}
        </div>
      )}
      {board.data.next === null ? null : (
        <p className="small faint">
          The board has the newest {plural(board.data.goals.length, "goal")}; search finds the others.
        </p>
      )}
    </div>
  );
}

function BoardCard({ goal }: { readonly goal: BoardGoal }): ReactNode {
  return (
    <Link to="/goals/$goal" params={{ goal: goal.goal }} className="card board-card">
      <span className="row spread">
        <StateMark state={needsPerson(goal) ? "blocked" : goal.status} />
        <span className="tiny faint">
          <TimeAgo at={goal.updated_at} />
        </span>
      </span>
      <span className="clamp">
        <Words text={goal.text} />
      </span>
      <Meter
        value={goal.progress}
        of={100}
        label={`${goal.tasks.verified} of ${plural(goal.tasks.planned, "task")} verified`}
        tone="good"
      />
      <span className="row spread tiny soft num">
        <span>
          {goal.tasks.planned === 0
            ? "no tasks yet"
            : `${goal.tasks.verified} of ${plural(goal.tasks.planned, "task")}`}
        </span>
        <span>{money(goal.money_micro_usd)}</span>
      </span>
      {goal.folder === null ? null : <code className="tiny faint clip">{goal.folder}</code>}
    </Link>
  );
}
