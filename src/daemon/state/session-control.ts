// Sends to, stops, interrupts, resumes, cancels and kills the session of a task, where its runner can.

import { checkVerb, type SessionVerb } from "../../core/session-verbs.ts";
import type { Tutti } from "../../client/client.ts";
import type { TaskControl } from "../../ports.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { TaskId } from "../../protocol/ids.ts";
import { userMessage } from "../../protocol/task/message.ts";
import type { Answerer } from "../../protocol/task/ask.ts";
import { idInName, taskName } from "../../store/names.ts";
import type { StoreView } from "../../store/view.ts";
import { mayTell } from "./program-words.ts";
import type { WorkspaceControl } from "./workspace-control.ts";

type Controls = Pick<Tutti, "sendMessage" | "stopTask" | "resumeTask" | "cancel" | "killTask">;

interface SessionControlDeps {
  readonly view: StoreView;
  readonly tasks: TaskControl;
  readonly workspaces: Pick<WorkspaceControl, "removeKilled">;
}

/** So many tasks of an invocation are named when a person has to choose. */
const mostNamed = 8;
const interruptedBy: Answerer = { kind: "rule", name: "interrupt" };

export function sessionControl({ view, tasks, workspaces }: SessionControlDeps): Controls {
  /** The session that is meant: of the task itself, or of the only open task of an invocation. */
  const sessionOf = async (task: TaskId, verb: SessionVerb): Promise<TaskId> => {
    const live = await tasks.session(task);
    if (live === undefined) return overOrUnknown(task, verb);
    const [only, another] = live.runner === "invocation" ? live.children : [];
    if (another !== undefined) {
      const names = live.children.slice(0, mostNamed).map((each) => `${each.task} (${each.agent})`);
      throw new TuttiError("invalid_input", `${task} has several sessions; name one of them: ${names.join(", ")}`);
    }
    const meant = only ?? live;
    checkVerb(verb, meant);
    return meant.task;
  };
  /** The engine then says why nothing can be done to it. */
  const overOrUnknown = async (task: TaskId, verb: SessionVerb): Promise<TaskId> => {
    const id = idInName(view.salt, task);
    const row = id === undefined ? undefined : await view.task(id);
    if (row === undefined) throw new TuttiError("not_found", `there is no task ${task}`);
    checkVerb(verb, { runner: row.kind, task });
    return task;
  };
  /** Unlike the other verbs these are about the task itself and all below it, an invocation too. */
  const checkEnding = async (task: TaskId, verb: "cancel" | "kill"): Promise<void> => {
    const live = await tasks.session(task);
    if (live !== undefined) checkVerb(verb, live);
  };
  const namesFrom = async (task: TaskId): Promise<readonly TaskId[]> => {
    const id = idInName(view.salt, task);
    const below = id === undefined ? [] : await view.below(id);
    return [task, ...below.map((each) => taskName(view.salt, each.id))];
  };
  return {
    async cancel(task, reason) {
      await checkEnding(task, "cancel");
      return tasks.cancel(task, reason);
    },
    async killTask(task, reason) {
      await checkEnding(task, "kill");
      const canceled = await tasks.kill(task, reason);
      return { task, canceled, workspaces: await workspaces.removeKilled(await namesFrom(task)) };
    },
    async sendMessage(task, text, { interrupt = false, program } = {}) {
      await mayTell(view, task, program);
      const session = await sessionOf(task, interrupt ? "interrupt" : "send");
      // First the message: the attempt that goes on finds it, whatever happens in between.
      await tasks.message(session, userMessage(text));
      if (!interrupt) return session;
      await tasks.interruptTask(session, "interrupted by a message", interruptedBy);
      return session;
    },
    async stopTask(task, reason) {
      const session = await sessionOf(task, "stop");
      await tasks.stopTask(session, reason);
      return session;
    },
    async resumeTask(task, by) {
      const session = await sessionOf(task, "resume");
      await tasks.resumeTask(session, by);
      return session;
    },
  };
}
