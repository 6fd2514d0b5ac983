// Tutti in this process: the interface every front is given, over the engine and the store themselves.

import { hostname } from "node:os";

import type { AnswerOutcome, Tutti } from "../../client/client.ts";
import type { AccountKind } from "../../core/account.ts";
import { refuseUnreadable } from "../../core/persons-checks.ts";
import type { DayCap } from "../../engine/day-cap.ts";
import type { Engine } from "../../engine/engine.ts";
import type { TaskControl } from "../../ports.ts";
import { idInName } from "../../store/names.ts";
import { AttendedWait } from "../../protocol/invocation/attended.ts";
import type { Attendance } from "../attendance/attendance.ts";
import { attendControl } from "../attendance/attend-control.ts";
import type { SharedByNodes } from "./kept-records.ts";
import { taskBodyIn } from "../../engine/task-body.ts";
import { waitBodyIn } from "../../engine/wait-body.ts";
import type { NodeList } from "../../protocol/api/node-shapes.ts";
import type { DayAccount, ServiceStatus } from "../../protocol/api/service.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { AskId, TaskId } from "../../protocol/ids.ts";
import { isOperatorLabel } from "../../protocol/operator/operator-waits.ts";
import type { LiveDelta } from "../../protocol/task/event.ts";
import type { Store } from "../../store/store.ts";
import type { StoreView } from "../../store/view.ts";
import type { EventFeed } from "./event-feed.ts";
import { explainRoute, reviewBy } from "../project/explain-route.ts";
import { follow, type FollowSource } from "./follow-feed.ts";
import type { Keys } from "./api-keys.ts";
import type { PageTokens } from "./page-tokens.ts";
import { type PageReads, readsOf } from "./reader.ts";
import type { OperatorHub } from "../operators/operator-hub.ts";
import { standingApprovals } from "./standing-approvals-of-asks.ts";
import type { KeptApprovals } from "../project/kept-approvals.ts";
import { StartGoal } from "../../protocol/api/goal-shapes.ts";
import { describeIssues, issuesOf } from "../../protocol/lenient-read.ts";
import { systemClock } from "../../engine/clock.ts";
import { scheduleControl } from "./schedule-control.ts";
import { conversationControl } from "./conversation-control.ts";
import { goalControl } from "./goal-control.ts";
import { sessionControl } from "./session-control.ts";
import { taskRetrier } from "./retry-task.ts";
import { threadReads } from "./read-threads.ts";
import { threadControl } from "./thread-control.ts";
import type { ThreadProjects } from "../../cluster/thread-projects.ts";
import { goalTeller } from "./goal-reads.ts";
import { goalStarter } from "./start-goal.ts";
import { invocationStarter } from "./start-invocation.ts";
import type { WorkspaceControl } from "./workspace-control.ts";
import type { ProjectRuntimes } from "../project/project-runtimes.ts";

/** With lists in pages, for whoever passes them on. */
export interface LocalTutti extends Tutti, PageReads, Pick<WorkspaceControl, "workspacePage"> {}

export interface LocalClientDeps {
  readonly store: Store;
  readonly view: StoreView;
  /** Of the trees that are here. */
  readonly engine: Engine;
  /** Over all trees; nothing is capped when absent. */
  readonly day?: Pick<DayCap, "use">;
  /** Of all trees. */
  readonly tasks: TaskControl;
  readonly feed: EventFeed;
  readonly runtimes: ProjectRuntimes;
  /** How the projects of threads are recorded; by their folders when absent. */
  readonly threadProjects?: ThreadProjects | undefined;
  readonly keys: Keys;
  readonly pages: PageTokens;
  readonly operators: OperatorHub;
  /** Takes secrets out of a text. */
  readonly redact: (text: string) => string;
  readonly kept: KeptApprovals;
  readonly workspaces: WorkspaceControl;
  readonly onLive: (listener: (delta: LiveDelta) => void) => () => void;
  /** What the process knows of itself. */
  readonly facts: () => Pick<
    ServiceStatus,
    "instance" | "version" | "url" | "pid" | "state" | "started_at" | "starting" | "resumed" | "parked"
  >;
  /** Tasks that are parked although this process does not have them. */
  readonly parkedElsewhere?: (() => Promise<ServiceStatus["parked"]>) | undefined;
  readonly setup: Tutti["setup"];
  readonly attendance: Attendance;
  /** Undefined unless several nodes share the records. */
  readonly shared: Pick<SharedByNodes, "ownerOf"> | undefined;
  /** Undefined when the process works alone. */
  readonly nodes?: Tutti["nodes"] | undefined;
  readonly close: () => Promise<void>;
}

/** Throws when a goal could not be started with this. */
function checkGoal(goal: unknown): void {
  const read = StartGoal.safeParse(goal);
  if (!read.success)
    throw new TuttiError("invalid_input", `the goal cannot be used: ${describeIssues(issuesOf(read.error, goal))}`);
  refuseUnreadable(read.data);
}

/** The one service of a folder with its own records. */
function aloneOn(
  service: Pick<ServiceStatus, "url" | "version" | "started_at"> & { readonly trees: number },
): NodeList {
  const { url, version, started_at, trees } = service;
  const alone = { state: "alive", here: true, lease_left_ms: null, changes_behind: 0, events_unplaced: 0 } as const;
  const node = { ...alone, labels: [], name: hostname(), url, version, joined_at: started_at, trees };
  return { nodes: [node], trees_without_node: 0 };
}

/** How many tasks that cannot go on the status names. */
const mostParked = 100;

export function localClient(deps: LocalClientDeps): LocalTutti {
  const { store, view, engine, tasks, feed, keys, operators } = deps;
  const { subtree, eventPage, ...reads } = readsOf(view, deps.facts().state, (task) => engine.budget(task));
  const source: FollowSource = {
    read: eventPage,
    subtree,
    onMore(listener) {
      const offFeed = feed.subscribe(listener);
      // The feed is silent when the store fails; a follower has to look once more to be told why.
      const offStore = store.onCommit(() => store.failure !== undefined && listener());
      return () => {
        offFeed();
        offStore();
      };
    },
    onLive: deps.onLive,
    failure: () => engine.halted,
  };
  const closed = new AbortController();
  /** Which of the two a wait is; the other's route must not settle it. */
  const wantsAnswer = async (wait: AskId): Promise<boolean | undefined> => {
    const id = idInName(store.salt, wait);
    const row = id === undefined ? undefined : await view.wait(id);
    if (row === undefined) return undefined;
    const { label = "", details } = waitBodyIn(row);
    if (isOperatorLabel(label)) throw new TuttiError("refused", `${wait} is for an operator to settle`);
    if (AttendedWait.safeParse(details).success) {
      throw new TuttiError("refused", `${wait} is settled when a process of the program attends the run`);
    }
    return row.ask !== null;
  };
  const deliver = async (wait: AskId, value: unknown, by: Parameters<Tutti["answer"]>[2]): Promise<AnswerOutcome> => {
    const delivery = await tasks.deliver(wait, value, by);
    return delivery.outcome === "accepted"
      ? { accepted: true }
      : { accepted: false, code: delivery.outcome, message: delivery.message };
  };
  const client: LocalTutti = {
    ...reads,
    url: undefined,
    follow: ({ signal, ...options }) =>
      follow(source, {
        ...options,
        signal: signal === undefined ? closed.signal : AbortSignal.any([signal, closed.signal]),
      }),
    async status() {
      const facts = deps.facts();
      // A database that is away must not keep anybody from asking how this process is.
      const elsewhere = (await deps.parkedElsewhere?.().catch(() => [])) ?? [];
      const joined = await operators.listAll().catch(() => operators.list());
      return {
        ...facts,
        parked: [...facts.parked, ...elsewhere].slice(0, mostParked),
        paused: engine.paused,
        degraded: degradedBy(engine.refusesWork),
        tasks: await tasks.counts(),
        asks: await view.openAsks(),
        ...(await dayOf(deps.day)),
        operators: { joined: joined.length, connected: joined.filter(({ connected }) => connected).length },
        seq: feed.position,
      };
    },
    invoke: invocationStarter({ engine: tasks, runtimes: deps.runtimes }),
    startGoal: goalStarter({ engine: tasks, runtimes: deps.runtimes }),
    tellGoal: goalTeller(tasks, reads, view),
    result: (task, signal) => tasks.result(task, signal),
    settled: (task, signal) => within(tasks.settled(task, signal), signal),
    async answer(ask, answer, by) {
      if ((await wantsAnswer(ask)) === false) return unknown(ask, "is the result of a tool, not a question");
      return deliver(ask, answer, by);
    },
    async settle(wait, value, by) {
      if ((await wantsAnswer(wait)) === true) return unknown(wait, "is a question; answer it as one");
      return deliver(wait, value, by);
    },
    ...standingApprovals({ ...deps, ask: (id) => reads.ask(id) }),
    ...deps.workspaces,
    ...attendControl(deps),
    retry: taskRetrier({ view, tasks, runtimes: deps.runtimes }),
    ...sessionControl({ view, tasks, workspaces: deps.workspaces }),
    ...scheduleControl({ view, engine: tasks, tasks: reads.tasks, clock: systemClock, redact: deps.redact, checkGoal }),
    ...conversationControl({
      engine: tasks,
      runtimes: deps.runtimes,
      task: reads.task,
      said: saidIn(store),
      configOf: configIn(view),
    }),
    ...threadReads(view, deps.threadProjects),
    ...threadControl({ store, view, engine, projects: deps.threadProjects }),
    pause: () => tasks.pause(),
    resume: () => tasks.resume(),
    setup: deps.setup,
    async nodes() {
      if (deps.nodes !== undefined) return deps.nodes();
      const { url, version, started_at } = deps.facts();
      return aloneOn({ url, version, started_at, trees: store.unfinishedTrees().length });
    },
    route: async (question) => explainRoute(question),
    review: async (question) => reviewBy(question),
    operators: () => operators.listAll(),
    keys: async () => keys.list(),
    addKey: (key) => keys.add(key),
    revokeKey: (id) => keys.revoke(id),
    async makeSignInCode() {
      const key = keys.ownerKey();
      if (key === undefined) throw new TuttiError("not_found", "no service was started here; `tutti up` starts one");
      return deps.pages.makeCode(key);
    },
    async close() {
      closed.abort();
      await deps.close();
    },
  };
  deps.runtimes.actThrough({ client, goals: goalControl(client) });
  return client;
}

/** The config of a task as it was recorded; undefined when there is none. */
function configIn(view: StoreView): (task: TaskId) => Promise<unknown> {
  return async (task) => {
    const id = idInName(view.salt, task);
    const row = id === undefined ? undefined : await view.taskRow(id);
    return row === undefined ? undefined : taskBodyIn(row.body).config;
  };
}

/** Notes that something was said in a task of a thread, in the commit of what was said. */
function saidIn(store: Store): (task: TaskId) => void {
  return (task) => {
    const id = idInName(store.salt, task);
    if (id !== undefined) store.touchThreads(id, systemClock.now());
  };
}

/** Nothing when there is no cap, or the database does not tell at the moment. */
async function dayOf(day: LocalClientDeps["day"]): Promise<Pick<ServiceStatus, "day">> {
  const use = await day?.use().catch(() => undefined);
  if (use === undefined) return {};
  const { limits, raised, spent, reserved, decision = null, until } = use;
  const accountOf = (kind: AccountKind): DayAccount | null => {
    const limit = limits[kind];
    if (limit === undefined) return null;
    return { limit, raised: raised[kind], used: spent[kind], reserved: reserved[kind] };
  };
  return {
    day: { tokens: accountOf("tokens"), money_micro_usd: accountOf("money_micro_usd"), decision, until },
  };
}

function degradedBy(error: TuttiError | undefined): ServiceStatus["degraded"] {
  return error === undefined ? null : { code: error.code, message: error.message };
}

function unknown(id: string, why: string): AnswerOutcome {
  return { accepted: false, code: "unknown", message: `${id} ${why}` };
}

/** Waiting can be given up; what is waited for goes on. */
async function within(done: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return done;
  signal.throwIfAborted();
  let aborted: (() => void) | undefined;
  const given = new Promise<never>((_, reject) => {
    aborted = () => reject(signal.reason);
    signal.addEventListener("abort", aborted);
  });
  try {
    await Promise.race([done, given]);
  } finally {
    if (aborted !== undefined) signal.removeEventListener("abort", aborted);
  }
}
