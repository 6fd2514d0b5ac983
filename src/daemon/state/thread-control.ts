// Makes threads of tasks that are there already, and forks threads.

import { homedir } from "node:os";

import type { Tutti } from "../../client/client.ts";
import { threadFolders, type ThreadProjects } from "../../cluster/thread-projects.ts";
import type { Engine } from "../../engine/engine.ts";
import { taskBodyIn } from "../../engine/task-body.ts";
import { BeginThread, ForkThread, LatestThread, type ThreadView } from "../../protocol/api/thread-shapes.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { TaskId, ThreadId } from "../../protocol/ids.ts";
import { describeIssues, issuesOf } from "../../protocol/lenient-read.ts";
import { idInName, taskName, threadName } from "../../store/names.ts";
import type { Store } from "../../store/store.ts";
import type { StoreView, TaskListing } from "../../store/view.ts";
import { projectFolder } from "../project/project-folder.ts";
import { threadRow, threadView } from "./read-threads.ts";
import { findMessage } from "./thread-messages.ts";

interface ThreadDeps {
  readonly store: Pick<Store, "committed">;
  readonly view: StoreView;
  readonly engine: Pick<Engine, "threads" | "refusesWork">;
  /** How the projects of threads are recorded; by their folders when absent. */
  readonly projects?: ThreadProjects | undefined;
}

export function threadControl(deps: ThreadDeps): Pick<Tutti, "beginThread" | "forkThread" | "latestThread"> {
  const { store, view, engine, projects = threadFolders } = deps;
  const made = async (thread: ThreadId): Promise<ThreadView> => {
    await store.committed();
    return threadView(view, await threadRow(view, thread), projects);
  };
  const checkRoom = (): void => {
    if (engine.refusesWork !== undefined) throw engine.refusesWork;
  };
  const control: ReturnType<typeof threadControl> = {
    async beginThread(task, options = {}) {
      const { name } = checked(BeginThread, { task, ...options });
      const { root, project } = await invocationOf(view, task, projects);
      const known = await view.threadOfTask(root);
      if (known !== undefined) return made(threadName(view.salt, known.thread));
      checkRoom();
      return made(engine.threads.begin(root, { project, name: name ?? null }));
    },
    async latestThread(of) {
      const { agent, folder } = checked(LatestThread, of);
      const project = projectFolder(folder, homedir());
      for await (const row of latestInvocations(view)) {
        const { agents, targets } = await view.request(row.id);
        if (targets !== 1 || agents[0] !== agent) continue;
        const task = taskName(view.salt, row.id);
        if ((await invocationOf(view, task, projects)).project === projects.keyOf(project))
          return control.beginThread(task);
      }
      const message = `${agent} was not asked anything in ${project} lately, so there is nothing to go on with`;
      throw new TuttiError("not_found", message);
    },
    async forkThread(thread, options = {}) {
      const { message, name } = checked(ForkThread, options);
      const row = await threadRow(view, thread);
      const point = message === undefined ? undefined : await findMessage(view, row.id, message);
      if (message !== undefined && point === undefined) {
        throw new TuttiError("not_found", `there is no message ${message} in ${thread}`);
      }
      checkRoom();
      return made(engine.threads.fork(row, name ?? null, point));
    },
  };
  return control;
}

/** How many of the latest tasks are looked at. */
const mostLooked = 1_000;

async function* latestInvocations(view: StoreView): AsyncGenerator<TaskListing> {
  let after: number | undefined;
  for (let looked = 0; looked < mostLooked;) {
    const filter = { roots: true, runner: "invocation", limit: 100, ...(after === undefined ? {} : { after }) };
    const { rows, more } = await view.tasks(filter);
    yield* rows;
    looked += rows.length;
    after = rows.at(-1)?.id;
    if (!more) return;
  }
}

function checked<T>(
  schema: {
    safeParse(value: unknown): { success: true; data: T } | { success: false; error: Parameters<typeof issuesOf>[0] };
  },
  given: unknown,
): T {
  const read = schema.safeParse(given);
  if (read.success) return read.data;
  throw new TuttiError("invalid_input", describeIssues(issuesOf(read.error, given)));
}

/** The root of a tree that one agent was asked in. Only the answer of one agent can be gone on with. */
async function invocationOf(
  view: StoreView,
  task: TaskId,
  projects: Pick<ThreadProjects, "keyOfConfig">,
): Promise<{ readonly root: number; readonly project: string }> {
  const id = idInName(view.salt, task);
  const place = id === undefined ? undefined : await view.place(id);
  const row = place === undefined ? undefined : await view.taskRow(place.root);
  if (place === undefined || row === undefined) throw new TuttiError("not_found", `there is no task ${task}`);
  const root = taskName(view.salt, place.root);
  const asked = await view.request(row.id);
  if (row.kind === "invocation" ? asked.targets !== 1 : asked.prompt === "") {
    throw new TuttiError("refused", `${root} cannot be gone on with in a thread: it does not ask one agent`);
  }
  return { root: row.id, project: projects.keyOfConfig(taskBodyIn(row.body).config) };
}
