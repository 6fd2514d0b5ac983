// What Tutti allows where nobody says otherwise: budgets, what a day may cost, tasks at the same time, room on the disk, and idle sessions.

import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";

import type { ServiceSetup } from "../../../../src/client/index.ts";
import { useConnection } from "../../api/connection.tsx";
import { bytes } from "../../format/show-bytes.ts";
import { count, duration, money, plural } from "../../format/show-time.ts";
import { Card, Facts } from "../../ui/controls.tsx";
import { Pending } from "../problem-pages.tsx";

export function Limits(): ReactNode {
  const { tutti } = useConnection();
  const setup = useQuery({ queryKey: ["setup"], queryFn: () => tutti.setup() });
  if (setup.data === undefined) return <Pending error={setup.error} />;
  const { budget, slots, day, min_free_bytes, workspaces, setup_cache, sessions } = setup.data.limits;
  return (
    <Card title="Limits">
      <div className="col loose">
        <Facts
          rows={[
            [
              "A goal or invocation",
              `${money(budget.money_micro_usd)}, ${count(budget.tokens)} tokens and ${duration(budget.time_ms)} of work, unless it sets its own budget`,
            ],
            [
              "Its tasks",
              `${plural(budget.tasks, "task")}, ${plural(budget.depth, "level")} deep, ${budget.concurrency} at the same time`,
            ],
            ["All tasks together", `${slots} at the same time`],
            ["A day", dayText(day)],
            [
              "Free disk",
              min_free_bytes === null
                ? "The system does not tell; a write that fails ends new work"
                : `New work needs ${bytes(min_free_bytes)}; work that runs goes on`,
            ],
            ["Workspaces", room(workspaces.max_bytes, workspaces.keep_days)],
            ["Results of setup", room(setup_cache.max_bytes, setup_cache.keep_days)],
            [
              "Idle sessions",
              sessions.idle_after_ms === null ? "stay" : `are ended after ${duration(sessions.idle_after_ms)}`,
            ],
            [
              "Coding agents that fail",
              sessions.max_failures === 0
                ? "are launched again each time"
                : `wait for you after ${plural(sessions.max_failures, "failure")} in a row`,
            ],
          ]}
        />
        <p className="tiny faint">
          The day, the room on the disk and the sessions are set in your own config,{" "}
          <code>~/.tutti/tutti.config.ts</code>, and the free disk with <code>tutti up --min-free</code>.
        </p>
      </div>
    </Card>
  );
}

function dayText(day: ServiceSetup["limits"]["day"]): string {
  const caps = [
    ...(day.money_micro_usd === null ? [] : [money(day.money_micro_usd)]),
    ...(day.tokens === null ? [] : [`${count(day.tokens)} tokens`]),
  ];
  return caps.length === 0 ? "No cap over all work" : `${caps.join(" and ")} over all work, from 00:00 UTC`;
}

function room(maxBytes: number | null, keepDays: number | null): string {
  const size = maxBytes === null ? "as much room as they need" : `at most ${bytes(maxBytes)}`;
  return `${size}; ${keepDays === null ? "none is removed for its age" : `removed after ${plural(keepDays, "day")} without use`}`;
}
