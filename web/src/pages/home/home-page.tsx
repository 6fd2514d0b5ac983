// The first page: what needs a person, the goals, and a new one.

import type { ReactNode } from "react";
import { useState } from "react";

import { useAsks, useBoard, useStatus } from "../../api/queries.ts";
import type { ServiceStatus } from "../../../../src/client/index.ts";
import { count, money, plural } from "../../format/show-time.ts";
import { Icon } from "../../ui/icons.tsx";
import { GoalList } from "./goal-list.tsx";
import { Inbox } from "./inbox.tsx";
import { NewGoalDialog } from "./new-goal.tsx";

export function HomePage(): ReactNode {
  const [isNew, setNew] = useState(false);
  const asks = useAsks();
  const status = useStatus().data;
  const board = useBoard().data;
  const open = asks.data ?? [];
  return (
    <div className="page">
      <header className="row spread folding">
        <div className="col tightest">
          <h1>
            {open.length === 0
              ? "Nothing waits for you"
              : `${plural(open.length, "question")} ${open.length === 1 ? "waits" : "wait"} for you`}
          </h1>
          {status === undefined ? null : (
            <p className="soft small num">
              {plural(status.tasks.running, "task")} running, {status.tasks.pending} queued,{" "}
              {status.tasks.input_required} waiting{todayText(status.day)} · Tutti {status.version}
            </p>
          )}
        </div>
        <button type="button" className="button primary" onClick={() => setNew(true)}>
          <Icon name="plus" /> New goal
        </button>
      </header>
      {open.length > 0 ? <Inbox asks={open} /> : null}
      <GoalList onNew={() => setNew(true)} />
      {isNew ? <NewGoalDialog folders={board?.folders ?? []} onClose={() => setNew(false)} /> : null}
    </div>
  );
}

/** What was used of the caps of the day, where there are some. */
function todayText(day: ServiceStatus["day"]): string {
  if (day === undefined) return "";
  const { money_micro_usd: paid, tokens } = day;
  const parts = [
    ...(paid === null ? [] : [`${money(paid.used)} of ${money(paid.limit + paid.raised)}`]),
    ...(tokens === null ? [] : [`${count(tokens.used)} of ${count(tokens.limit + tokens.raised)} tokens`]),
  ];
  return ` · today ${parts.join(", ")}`;
}
