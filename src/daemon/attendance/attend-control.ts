// Lets processes attend runs: only those of the program that started a run, and only while the run goes on.

import type { Tutti } from "../../client/client.ts";
import { taskBodyIn } from "../../engine/task-body.ts";
import { attendLeaseMs } from "../../protocol/api/attend-shapes.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { TaskId } from "../../protocol/ids.ts";
import { readInvocationConfig } from "../../runner/invocation/config.ts";
import { idInName } from "../../store/names.ts";
import type { StoreView } from "../../store/view.ts";
import { owner } from "../state/api-keys.ts";
import type { SharedByNodes } from "../state/kept-records.ts";
import type { Attendance } from "./attendance.ts";

interface AttendDeps {
  readonly view: Pick<StoreView, "salt" | "taskRow" | "unfinished">;
  readonly attendance: Attendance;
  readonly shared: Pick<SharedByNodes, "ownerOf"> | undefined;
}

type AttendControl = Pick<Tutti, "attend" | "reportAttended">;

/** The reason of a `not_found` that the node of the run does not have. */
export const runElsewhere = "run_elsewhere";

export function attendControl({ view, attendance, shared }: AttendDeps): AttendControl {
  /** The number of the run's task. Throws when the caller may not attend it. */
  const runOf = async (task: TaskId, caller: string): Promise<number> => {
    const id = idInName(view.salt, task);
    const row = id === undefined ? undefined : await view.taskRow(id);
    if (id === undefined || row === undefined) throw new TuttiError("not_found", `there is no task ${task}`);
    const by = row.parent === null && row.kind === "invocation" ? attendedBy(row.body) : undefined;
    if (by === undefined) {
      throw new TuttiError("refused", `${task} is no run of a program, so no process can attend it`);
    }
    // The owner of the state folder may do everything.
    if (caller === owner || caller === by) return id;
    throw new TuttiError(
      "refused",
      `${task} was started with another key; only the processes of its program attend it`,
    );
  };
  const mustBeHere = async (task: TaskId, id: number, signal?: AbortSignal): Promise<void> => {
    if (shared === undefined || (await shared.ownerOf(id, signal)) === "here") return;
    throw new TuttiError("not_found", `${task} runs at another node`, { details: { reason: runElsewhere } });
  };
  const never = new AbortController().signal;
  return {
    async attend(task, request, { signal = never, caller = owner } = {}) {
      const id = await runOf(task, caller);
      const isOver = async (): Promise<boolean> => (await view.unfinished(id)) === 0;
      if (await isOver()) return { life: "", lease_ms: attendLeaseMs, over: true, orders: [] };
      await mustBeHere(task, id, signal);
      const attended = await attendance.attend(
        task,
        { ...request, after: request.after ?? 0, wait_ms: request.wait_ms ?? 0 },
        signal,
      );
      return { ...attended, over: attended.orders.length === 0 && (await isOver()) };
    },
    async reportAttended(task, report, { caller = owner } = {}) {
      const id = await runOf(task, caller);
      if ((await view.unfinished(id)) === 0) {
        return { late: [...new Set(report.notices.map(({ call }) => call))], life: "" };
      }
      await mustBeHere(task, id);
      return attendance.report(task, { ...report, leaves: report.leaves ?? false });
    },
  };
}

function attendedBy(body: string): string | undefined {
  return readInvocationConfig(taskBodyIn(body).config).attended_by;
}
