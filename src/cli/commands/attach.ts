// `tutti attach`: shows a run live, from its beginning or from its last messages, and puts its questions to the person.
import type { Reader } from "../../client/client.ts";
import { goalOfTask } from "../../core/goal-id.ts";
import type { Host } from "../../host/host.ts";
import type { GoalId, TaskId } from "../../protocol/ids.ts";
import { isTerminal } from "../../protocol/task/task-status.ts";
import { allEvents } from "../all-events.ts";
import { withDaemon, withReader } from "../connect.ts";
import { findTask } from "../find-id.ts";
import { followGoal, printGoal } from "../follow-goal.ts";
import { reviveDaemon } from "../revive-daemon.ts";
import { showFinishedRun, showRun, type ShowRunOptions } from "../show-run.ts";
import { untilLeft } from "../until-left.ts";

export interface AttachOptions {
  readonly state?: string;
  /** Only the result is printed, when there is one. */
  readonly json?: boolean;
  /** How many of the last messages are shown; all when absent. */
  readonly last?: number;
}

/** If no process works on the tree and it is not over, a daemon is started that does. */
export async function attachCommand(host: Host, given: string, options: AttachOptions): Promise<void> {
  let run: ShowRunOptions | undefined;
  let goal: GoalId | undefined;
  await withReader(host, options, async (reader) => {
    const { root } = await reader.task(await findTask(reader, given));
    const from = options.last === undefined ? undefined : await seqOfLast(reader, root, options.last);
    const found: ShowRunOptions = { task: root, state: options.state, json: options.json, from };
    const isOver = (await reader.tree(root)).every(({ status }) => isTerminal(status));
    // The messages of a goal are those of its manager and of every session; a tree of its tasks says more.
    if (options.last === undefined && (await reader.task(root)).runner === "manager") goal = goalOfTask(root);
    if (isOver && goal !== undefined) return printGoal(reader, { ...options, state: options.state, goal });
    if (isOver) return showFinishedRun(reader, found);
    run = found;
  });
  if (run === undefined) return;
  const unfinished = run;
  await withDaemon(host, options, (tutti) =>
    untilLeft(tutti, { state: options.state, id: goal ?? unfinished.task }, async () => {
      const revive = reviveDaemon(host, options);
      if (goal === undefined) await showRun(tutti, { ...unfinished, revive });
      else await followGoal(tutti, { ...options, state: options.state, goal, revive });
    }),
  );
}

/** The sequence of the event from which on the tree has so many messages of agents. */
async function seqOfLast(reader: Reader, root: TaskId, count: number): Promise<number> {
  const last: number[] = [];
  for await (const { seq, type, data } of allEvents(reader, root)) {
    if (type !== "message.added" || data.message.role !== "assistant") continue;
    last.push(seq);
    if (last.length > count) last.shift();
  }
  return last[0] ?? 0;
}
