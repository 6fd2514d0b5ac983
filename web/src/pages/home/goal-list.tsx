// The goals, newest first, in pages.

import { Link } from "@tanstack/react-router";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";

import type { ListedGoal } from "../../../../src/client/index.ts";
import { useConnection } from "../../api/connection.tsx";
import { Card, Empty, TimeAgo } from "../../ui/controls.tsx";
import { Words } from "../../ui/outside-text.tsx";
import { StateMark } from "../../ui/state-mark.tsx";
import { Pending } from "../problem-pages.tsx";

export function GoalList({ onNew }: { readonly onNew: () => void }): ReactNode {
  const { tutti } = useConnection();
  const goals = useQuery({ queryKey: ["goals"], queryFn: () => tutti.goals({ limit: 50 }), refetchInterval: 5_000 });
  return (
    <Card title="Goals" flush>
      {goals.data === undefined ? (
        <Pending error={goals.error} />
      ) : goals.data.goals.length === 0 ? (
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
        goals.data.goals.map((goal) => <GoalRow key={goal.goal} goal={goal} />)
      )}
    </Card>
  );
}

function GoalRow({ goal }: { readonly goal: ListedGoal }): ReactNode {
  return (
    <Link to="/goals/$goal" params={{ goal: goal.goal }} className="item">
      <StateMark state={goal.status} bare />
      <span className="col tightest grow">
        <span className="clip">
          <Words text={goal.text} />
        </span>
        <span className="tiny soft clip">
          <Words text={goal.reason} />
        </span>
      </span>
      <span className="tiny faint">
        <TimeAgo at={goal.created_at} />
      </span>
    </Link>
  );
}
