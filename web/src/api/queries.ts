// What the pages read, by name: lists that stay true through events, and plain reads of the rest.

import { queryOptions, useQuery } from "@tanstack/react-query";

import type { Board, GoalView, ListedAsk, TaskId } from "../../../src/client/index.ts";
import { foldBoard } from "../live/fold-board.ts";
import { foldAsks, reopens } from "../live/fold-asks.ts";
import { foldGoalView } from "../live/fold-goal-view.ts";
import { foldTasks, type LiveTask, type LiveTree, settleUncertain, treeFrom } from "../live/fold-tasks.ts";
import { type Connection, useConnection } from "./connection.tsx";

export function useStatus() {
  const { tutti } = useConnection();
  return useQuery({ queryKey: ["status"], queryFn: () => tutti.status(), refetchInterval: 10_000 });
}

export function useAsks() {
  const { live, tutti, queries } = useConnection();
  return useQuery(
    live.options<readonly ListedAsk[]>({
      key: ["asks"],
      read: () => tutti.asks(),
      fold: (asks, events) => {
        if (reopens(events)) void queries.invalidateQueries({ queryKey: ["asks"] });
        return foldAsks(asks, events);
      },
    }),
  );
}

export function useAsk(id: string | undefined) {
  const { tutti } = useConnection();
  return useQuery({
    queryKey: ["ask", id],
    queryFn: () => tutti.ask(id ?? ""),
    enabled: id !== undefined,
    staleTime: Infinity,
    retry: false,
  });
}

/** The newest goals with their numbers. The index behind them is asked again now and then, since it knows more than events tell. */
export function useBoard() {
  const { live, call } = useConnection();
  return useQuery({
    ...live.options<Board>({ key: ["board"], read: () => call("board", { query: {} }), fold: foldBoard }),
    refetchInterval: 30_000,
  });
}

export function useGoal(goal: string | undefined) {
  const { live, tutti } = useConnection();
  return useQuery({
    ...live.options<GoalView>({ key: ["goal", goal], read: () => tutti.goal(goal ?? ""), fold: foldGoalView }),
    enabled: goal !== undefined,
  });
}

export function useReport(goal: string, changed: unknown) {
  const { tutti } = useConnection();
  return useQuery({
    queryKey: ["report", goal, changed],
    queryFn: () => tutti.goalReport(goal),
    placeholderData: (before) => before,
  });
}

export function useTree(task: TaskId | undefined) {
  const connection = useConnection();
  return useQuery({ ...treeOptions(connection, task ?? "tsk_none"), enabled: task !== undefined });
}

function treeOptions(connection: Connection, task: TaskId) {
  const { live, tutti } = connection;
  return live.options<LiveTree>({
    key: ["tree", task],
    read: async ({ from }) => {
      const snapshot = await tutti.tree(task);
      const { seq } = await tutti.status();
      const root = snapshot[0]?.root ?? task;
      const tree = treeFrom(root, snapshot, { from, to: Math.max(seq, from) });
      // What is uncertain is known once the events of the meantime are folded in.
      setTimeout(() => void settleTree(connection, task), 1_000);
      return tree;
    },
    fold: foldTasks,
  });
}

/** Reads tasks again whose use is not certain, since events came while the snapshot was read. */
async function settleTree({ live, tutti, feed, queries }: Connection, task: TaskId): Promise<void> {
  for (let round = 0; round < 5; round += 1) {
    const tree = queries.getQueryData<LiveTree>(["tree", task]);
    if (tree === undefined || tree.uncertain.size === 0) return;
    for (const id of [...tree.uncertain].slice(0, 200)) {
      const gathered = feed.collect();
      try {
        const { result: _, ...read } = await tutti.task(id);
        const { seq } = await tutti.status();
        const span = { from: gathered.from, to: seq, during: gathered.events };
        live.change<LiveTree>(["tree", task], (now) => settleUncertain(now, { ...read, result_preview: null }, span));
      } catch {
        return;
      } finally {
        gathered.end();
      }
    }
  }
}

/** While the task works, its folder is read as it is, now and then. */
export function diffOptions({ tutti }: Connection, { id, ended_at }: LiveTask) {
  const working = ended_at === null;
  return queryOptions({
    queryKey: ["diff", id, working],
    queryFn: () => tutti.workspaceDiff(id, working ? { working } : {}),
    retry: false,
    refetchInterval: working ? 10_000 : false,
  });
}
