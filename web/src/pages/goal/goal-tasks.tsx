// The tasks of a goal as a list that stays quick with thousands of them: only the rows in view are drawn.

import { Link } from "@tanstack/react-router";
import { useVirtualizer } from "@tanstack/react-virtual";
import { memo, type ReactNode, useMemo, useRef } from "react";

import type { GoalView, TaskId } from "../../../../src/client/index.ts";
import { count, duration, money } from "../../format/show-time.ts";
import { type GraphBox, goalGraphTasks } from "../../graph/goal-graph-tasks.ts";
import type { LiveTask, LiveTree } from "../../live/fold-tasks.ts";
import { Words } from "../../ui/outside-text.tsx";
import { StateMark } from "../../ui/state-mark.tsx";
import { Running } from "../running.tsx";
import { shownState } from "./goal-graph.tsx";

export function GoalTasks({
  goal,
  tree,
  workers,
}: {
  readonly goal: GoalView;
  readonly tree: LiveTree | undefined;
  readonly workers: ReadonlyMap<TaskId, string>;
}): ReactNode {
  const scroller = useRef<HTMLDivElement>(null);
  const shape = `${goal.plan.length} ${goal.links.length} ${tree?.shape ?? 0}`;
  // oxlint-disable-next-line react-hooks/exhaustive-deps -- the shape says when rows were added
  const boxes = useMemo(() => goalGraphTasks(goal, tree?.tasks ?? new Map()), [goal.id, shape]);
  const links = useMemo(() => new Map(goal.links.map(({ task, state }) => [task, state])), [goal.links]);
  const rows = useVirtualizer({
    count: boxes.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 62,
    overscan: 12,
  });
  return (
    <div className="card list" ref={scroller} tabIndex={0} role="region" aria-label="Tasks of the goal">
      <div className="list-inner" style={{ height: rows.getTotalSize() }}>
        {rows.getVirtualItems().map(({ index, start, size }) => {
          const box = boxes[index];
          if (box === undefined) return null;
          return (
            <div key={box.id} className="list-row" style={{ transform: `translateY(${start}px)`, height: size }}>
              <TaskRow
                box={box}
                task={box.task === undefined ? undefined : tree?.tasks.get(box.task)}
                link={box.task === undefined ? undefined : links.get(box.task)}
                routed={box.task === undefined ? undefined : workers.get(box.task)}
              />
            </div>
          );
        })}
      </div>
    </div>
  );
}

const TaskRow = memo(function TaskRow({
  box,
  task,
  link,
  routed,
}: {
  readonly box: GraphBox;
  readonly task: LiveTask | undefined;
  readonly link: string | undefined;
  /** Who the report says was chosen, where no event told it since the page was opened. */
  readonly routed: string | undefined;
}): ReactNode {
  const worker = task?.worker ?? routed ?? task?.runner;
  const inner = (
    <>
      <StateMark state={shownState(task, link)} bare />
      <span className="col tightest grow">
        <span className="clip">
          <strong>
            <Words text={box.planned ?? box.title} />
          </strong>{" "}
          <span className="soft">
            <Words text={box.planned === undefined ? (task?.prompt ?? "") : box.title} />
          </span>
        </span>
        <span className="tiny faint clip num">
          {task === undefined ? (
            "not begun"
          ) : task.checking !== undefined ? (
            <Words text={task.checking} />
          ) : (
            `${worker ?? ""} · attempt ${task.attempt} · ${count(task.tokens)} tokens · ${money(task.money_micro_usd)}`
          )}
        </span>
      </span>
      <span className="tiny faint num">
        {task === undefined ? null : task.ended_at === null ? (
          <Running since={task.created_at} />
        ) : (
          duration(task.ended_at - task.created_at)
        )}
      </span>
    </>
  );
  return box.task === undefined ? (
    <div className="item">{inner}</div>
  ) : (
    <Link to="/tasks/$task" params={{ task: box.task }} className="item">
      {inner}
    </Link>
  );
});
