// The attempts of a task and the tasks below it.

import { Link } from "@tanstack/react-router";
import { type ReactNode, useMemo } from "react";

import type { TaskEvent } from "../../../../src/client/index.ts";
import { count, money, plural } from "../../format/show-time.ts";
import type { LiveTask, LiveTree } from "../../live/fold-tasks.ts";
import { Card, Empty, TimeAgo } from "../../ui/controls.tsx";
import { Words } from "../../ui/outside-text.tsx";
import { StateMark } from "../../ui/state-mark.tsx";

const mostShown = 500;

export function TaskFamily({
  tree,
  task,
  events,
}: {
  readonly tree: LiveTree;
  readonly task: LiveTask;
  readonly events: readonly TaskEvent[];
}): ReactNode {
  const below = [...tree.tasks.values()].filter(({ parent }) => parent === task.id);
  const ends = useMemo(() => attemptEnds(events), [events]);
  return (
    <div className="col loose">
      <Card title={plural(task.attempt, "attempt")} flush>
        {Array.from({ length: task.attempt }, (_, index) => index + 1).map((attempt) => (
          <div key={attempt} className="item small">
            <strong>Attempt {attempt}</strong>
            <span className="grow soft">
              <Words
                text={ends.get(attempt)?.reason ?? (task.ended_at === null ? "is under way" : "is the last one")}
              />
            </span>
            <StateMark state={ends.get(attempt)?.outcome ?? task.status} />
          </div>
        ))}
      </Card>
      <Card title="Tasks below it" end={<span className="count">{below.length}</span>} flush>
        {below.length === 0 ? (
          <Empty title="It started no other task" />
        ) : (
          below.slice(0, mostShown).map((child) => (
            <Link key={child.id} to="/tasks/$task" params={{ task: child.id }} className="item">
              <StateMark state={child.status} bare />
              <span className="col tightest grow">
                <span className="clip">
                  <strong>{child.agent}</strong> <Words text={child.prompt ?? child.result_preview?.text ?? ""} />
                </span>
                <span className="tiny faint num">
                  {child.runner} · {count(child.tokens)} tokens · {money(child.money_micro_usd)}
                </span>
              </span>
              <span className="tiny faint">
                <TimeAgo at={child.created_at} />
              </span>
            </Link>
          ))
        )}
        {below.length > mostShown ? <p className="item small">{below.length - mostShown} more are not shown.</p> : null}
      </Card>
    </div>
  );
}

function attemptEnds(
  events: readonly TaskEvent[],
): ReadonlyMap<number, { readonly outcome: string; readonly reason: string }> {
  return new Map(
    events.flatMap((event) => (event.type === "attempt.ended" ? [[event.attempt ?? 1, event.data] as const] : [])),
  );
}
