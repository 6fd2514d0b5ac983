// The goals: what needs a person first, then what is under way, then what ended.

import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useMemo } from "react";

import type { Board } from "../../../../src/client/index.ts";
import { useConnection } from "../../api/connection.tsx";
import { useBoard } from "../../api/queries.ts";
import { count, money, plural } from "../../format/show-time.ts";
import type { BoardGoal } from "../../live/fold-board.ts";
import { isEnded } from "../../live/fold-goal-view.ts";
import { Card, Empty, Meter, TimeAgo } from "../../ui/controls.tsx";
import { Words } from "../../ui/outside-text.tsx";
import { StateMark } from "../../ui/state-mark.tsx";
import { Pending } from "../problem-pages.tsx";

export function needsPerson(goal: BoardGoal): boolean {
  return !isEnded(goal.status) && (goal.asks > 0 || goal.status === "blocked");
}

function rank(goal: BoardGoal): number {
  return needsPerson(goal) ? 0 : isEnded(goal.status) ? 2 : 1;
}

export function GoalList({ onNew }: { readonly onNew: () => void }): ReactNode {
  const board = useBoard();
  const goals = useMemo(
    () => (board.data?.goals ?? []).toSorted((a, b) => rank(a) - rank(b) || b.created_at - a.created_at),
    [board.data],
  );
  return (
    <Card title="Goals" flush>
      {board.data === undefined ? (
        <Pending error={board.error} />
      ) : goals.length === 0 ? (
        <Empty title="No goals yet" command={'tutti run "Make all tests pass" --check "npm test"'}>
          A goal is what you want, in your words. Tutti splits it into tasks, has agents do them, and proves the result.
          <p>
            <button type="button" className="button" onClick={onNew}>
              Start the first goal here
            </button>
          </p>
          or in a terminal, in the folder of your project:
        </Empty>
      ) : (
        <>
          {goals.map((goal) => (
            <GoalRow key={goal.goal} goal={goal} />
          ))}
          {board.data.next === null ? null : <OlderGoals board={board.data} />}
        </>
      )}
    </Card>
  );
}

/** Goals beyond the first page, which are read as the person asks for them. */
function OlderGoals({ board }: { readonly board: Board }): ReactNode {
  const { call } = useConnection();
  const older = useInfiniteQuery({
    queryKey: ["older-goals", board.next],
    enabled: false,
    initialPageParam: board.next ?? undefined,
    queryFn: ({ pageParam }) => call("board", { query: { cursor: pageParam } }),
    getNextPageParam: (last) => last.next ?? undefined,
  });
  const pages = older.data?.pages ?? [];
  const more = pages.length === 0 || older.hasNextPage;
  return (
    <>
      {pages
        .flatMap(({ goals }) => goals)
        .map((goal) => (
          <GoalRow key={goal.goal} goal={goal} />
        ))}
      {more ? (
        <div className="item">
          <button
            type="button"
            className="button tight"
            onClick={() => void (pages.length === 0 ? older.refetch() : older.fetchNextPage())}
          >
            Older goals
          </button>
        </div>
      ) : null}
    </>
  );
}

function GoalRow({ goal }: { readonly goal: BoardGoal }): ReactNode {
  const needs = needsPerson(goal);
  return (
    <Link to="/goals/$goal" params={{ goal: goal.goal }} className="item">
      <StateMark state={needs ? "blocked" : goal.status} bare />
      <span className="col tightest grow">
        <span className="clip">
          <Words text={goal.text} />
        </span>
        <span className="tiny soft clip">
          <Words text={goal.reason} />
        </span>
      </span>
      {needs && goal.asks > 0 ? (
        <span className="count needs">
          {goal.asks} {goal.asks === 1 ? "question" : "questions"}
        </span>
      ) : null}
      <span className="goal-numbers tiny soft num">
        <span className="col tightest">
          <Meter
            value={goal.progress}
            of={100}
            label={`${goal.tasks.verified} of ${plural(goal.tasks.planned, "task")} verified`}
            tone="good"
          />
          <span className="faint">
            {goal.tasks.verified} of {goal.tasks.planned} verified
          </span>
        </span>
        <span className="right">{money(goal.money_micro_usd)}</span>
        <span className="right">{count(goal.tokens)} tok</span>
        <span className="right faint">
          <TimeAgo at={goal.updated_at} />
        </span>
      </span>
    </Link>
  );
}
