// The interface of Tutti for every front: reading tasks and working with them, in process or over HTTP.

import type { PolicyDecision, PolicyQuestion, ReviewDecision, ReviewQuestion } from "../protocol/api/catalog.ts";
import type { GoalListQuery, GoalPage, GoalView, StartedGoal, StartGoal } from "../protocol/api/goal-shapes.ts";
import type { AttendReply, AttendReport, AttendReported, AttendRequest } from "../protocol/api/attend-shapes.ts";
import type { NewConversation } from "../protocol/api/conversation-shapes.ts";
import type { ConversationView } from "../protocol/conversation/conversation-view.ts";
import type { NodeList } from "../protocol/api/node-shapes.ts";
import type { KeyView, MadeKey, NewKey, ServiceSetup, ServiceStatus } from "../protocol/api/service.ts";
import type { SignInCode } from "../protocol/api/sign-in-routes.ts";
import type {
  HistoryPage,
  HistoryQuery,
  ListedAsk,
  ListedWait,
  MessagePage,
  OpenAsk,
  OpenWait,
  PageQuery,
  Retried,
  Started,
  StepPage,
  TaskListQuery,
  TaskPage,
} from "../protocol/api/task-shapes.ts";
import type {
  OpenedPullRequest,
  OpenPullRequest,
  PullRequestPlan,
  PullRequestQuery,
} from "../protocol/api/pull-request-shapes.ts";
import type { MadeSchedule, NewSchedule, ScheduleView } from "../protocol/api/schedule-shapes.ts";
import type { KilledTask, ObserveQuery } from "../protocol/api/session-shapes.ts";
import type {
  DiffQuery,
  MergedTask,
  MergeTask,
  AttemptQuery,
  IntegratedTasks,
  IntegrateTasks,
  PrunedWorkspaces,
  PruneWorkspaces,
  RemovedView,
  RemoveQuery,
  RestoredView,
  WorkspaceDiff,
  WorkspaceLeftover,
  WorkspaceView,
} from "../protocol/api/workspace-shapes.ts";
import type {
  BeginThread,
  ForkThread,
  LatestThread,
  ThreadListQuery,
  ThreadMessagePage,
  ThreadMessagesQuery,
  ThreadPage,
  ThreadView,
} from "../protocol/api/thread-shapes.ts";
import type { Answerer } from "../protocol/task/ask.ts";
import type { LiveDelta, TaskEvent } from "../protocol/task/event.ts";
import type { AskId, GoalId, TaskId, ThreadId } from "../protocol/ids.ts";
import type { AgentResult } from "../protocol/invocation/invocation-result.ts";
import type { ProgramCaller } from "../protocol/invocation/by-program.ts";
import type { NewStandingApproval, StandingApproval } from "../protocol/invocation/standing-approval.ts";
import type { OperatorInfo } from "../protocol/operator/operator-session.ts";
import type { HeldAgent } from "../protocol/task/agent-failure.ts";
import type { GoalReport } from "../protocol/task/goal-report.ts";
import type { DetailedObservation, Observation } from "../protocol/task/observation.ts";
import type { TaskBudget } from "../protocol/task/task-budget.ts";
import type { TaskSummary, TaskView } from "../protocol/task/task-view.ts";

/** What following yields: an event, which is recorded and has an order, or a piece of text that is being written, which is not. */
export type EventOrDelta = { readonly event: TaskEvent } | { readonly live: LiveDelta };

export interface FollowOptions {
  /** Only this task and those below it. Following ends after the last event of the last of them. */
  readonly task?: TaskId;
  /** Begins after the event with this sequence; with the first event when absent. */
  readonly after?: number;
  /** Yields text while it is being written, too. */
  readonly live?: boolean;
  readonly signal?: AbortSignal;
  /** Called each time the connection to the service broke or could not be made, before the next try. Following ends with what it throws. */
  readonly onLost?: () => Promise<void>;
}

/** What is looked up with git ends with the signal, unless somebody else waits for the same. */
export interface Looking {
  readonly signal?: AbortSignal | undefined;
}

/** Reading changes nothing and needs no lock: it works beside the process that runs the tasks. */
export interface Reader {
  tasks(query?: TaskListQuery): Promise<TaskPage>;
  task(task: TaskId): Promise<TaskView>;
  /** The task and all below it, parents first. Only the beginnings of results are in it. */
  tree(task: TaskId): Promise<TaskSummary[]>;
  /** What pays for the task, and the limits of its tree as they are now. */
  budget(task: TaskId): Promise<TaskBudget>;
  messages(task: TaskId, page: PageQuery): Promise<MessagePage>;
  steps(task: TaskId, page: PageQuery): Promise<StepPage>;
  /** Events after `after`, in order, at most `limit`; of the task and all below it when one is named. */
  events(options: {
    readonly task?: TaskId;
    readonly after: number;
    readonly limit: number;
  }): Promise<readonly TaskEvent[]>;
  /** Events of the task itself, the newest page first; `next` of a page is the `before` of the older one. */
  history(task: TaskId, query?: HistoryQuery): Promise<HistoryPage>;
  /** Yields every event exactly once, in order, also over lost connections and restarts (invariant 9). */
  follow(options: FollowOptions): AsyncIterable<EventOrDelta>;
  /** What waits for an answer, the oldest first; of the task and all below it when one is named. Only beginnings of texts. */
  asks(task?: TaskId): Promise<readonly ListedAsk[]>;
  waits(task?: TaskId): Promise<readonly ListedWait[]>;
  /** All of it. Throws `not_found` when it is not open. */
  ask(ask: AskId): Promise<OpenAsk>;
  wait(wait: AskId): Promise<OpenWait>;
  /** What the session of the task is doing. */
  observe(task: TaskId, query?: ObserveQuery): Promise<DetailedObservation>;
  /** All tasks that are not over and have a session, newest first. */
  sessions(): Promise<readonly Observation[]>;
  /** Coding agents that failed several times in a row. The next launch of one asks first. */
  heldAgents(): Promise<readonly HeldAgent[]>;
  /** A conversation with the manager, with its latest turns. */
  conversation(conversation: TaskId): Promise<ConversationView>;
  /** The thread in which something was said last comes first. Conversations with the manager are among them. */
  threads(query?: ThreadListQuery): Promise<ThreadPage>;
  thread(thread: ThreadId): Promise<ThreadView>;
  /** What was said in the thread, oldest first. */
  threadMessages(thread: ThreadId, query?: ThreadMessagesQuery): Promise<ThreadMessagePage>;
  /** Newest first. */
  goals(query?: GoalListQuery): Promise<GoalPage>;
  goal(goal: GoalId): Promise<GoalView>;
  /** As the goal stands now. */
  goalReport(goal: GoalId): Promise<GoalReport>;
  /** Whether there is a pause, so that no new work begins. */
  paused(): Promise<boolean>;
  close(): Promise<void>;
}

/** `late`: another answer came first, or the time was up. `unknown`: there is no such ask. `invalid`: the answer does not fit. */
export type AnswerOutcome =
  | { readonly accepted: true }
  | { readonly accepted: false; readonly code: "late" | "unknown" | "invalid"; readonly message: string };

/** Whom something belongs to that lasts: it ends when the API key of this caller is revoked. */
export interface OfCaller {
  /** The owner of the state folder when absent. Over HTTP it is ignored: the API key says who. */
  readonly caller?: string;
  /** The program that asks; a person when absent. Over HTTP it is ignored, too. */
  readonly program?: ProgramCaller;
}

type Attending = Omit<AttendRequest, "after" | "wait_ms"> & Partial<Pick<AttendRequest, "after" | "wait_ms">>;
type AttendedReport = Omit<AttendReport, "leaves"> & Partial<Pick<AttendReport, "leaves">>;

/** Everything a front can do. It behaves the same in process and over HTTP. */
export interface Tutti extends Reader {
  /** Where the daemon is; undefined when this process does the work itself. */
  readonly url: string | undefined;
  status(): Promise<ServiceStatus>;
  /** The nodes that work on the same records; only the one process when it works alone. */
  nodes(): Promise<NodeList>;
  /** What the process that does the work has to work with; with the config of the project at `folder` when one is named. */
  setup(options?: { readonly folder?: string }): Promise<ServiceSetup>;
  /** Starts the invocation in `text`. While it is unfinished, the same text gives the same task, unless `anew` is set. */
  invoke(
    text: string,
    options: {
      /** Where relative paths begin. Over HTTP it may be left out; then the paths must be absolute. */
      readonly folder?: string | undefined;
      /**
       * `folder` is where this node was started, because the request names none: with an idempotency key the same request is the
       * same at every node. Over HTTP it is ignored.
       */
      readonly ownFolder?: boolean;
      readonly anew?: boolean;
      /** An idempotency key: the same key of the same caller always gives the same task, finished or not. */
      readonly key?: string;
    } & OfCaller,
  ): Promise<Started>;
  /** Hands a goal to the manager. While it is under way, the same goal gives the same task, unless `anew` is set. */
  startGoal(
    goal: StartGoal,
    options?: {
      readonly anew?: boolean;
      /** An idempotency key: the same key of the same caller always gives the same goal, ended or not. */
      readonly key?: string;
    } & OfCaller,
  ): Promise<StartedGoal>;
  /** Says something to the manager of the goal. `stop` ends the goal, `stop NAME` one of its tasks. Returns the manager's task. */
  tellGoal(goal: GoalId, text: string, of?: Pick<OfCaller, "program">): Promise<TaskId>;
  /** Waits for the task to end; tasks below it may still be running. */
  result(task: TaskId, signal?: AbortSignal): Promise<AgentResult>;
  /** Resolves when the task and all below it have ended. */
  settled(task: TaskId, signal?: AbortSignal): Promise<void>;
  /** Answers an ask. `by` names who answers; over HTTP it is ignored, since the API key says who the caller is. */
  answer(ask: AskId, answer: unknown, by: Answerer): Promise<AnswerOutcome>;
  /** Gives the result of a tool that the client carries out itself. */
  settle(wait: AskId, value: unknown, by: Answerer): Promise<AnswerOutcome>;
  /**
   * Attends a run as one process of the program that started it. Returns calls that the process has to make, as soon as there
   * are any. A process that is not heard for a while counts as gone. `caller` is ignored over HTTP.
   */
  attend(
    task: TaskId,
    request: Attending,
    options?: OfCaller & { readonly signal?: AbortSignal },
  ): Promise<AttendReply>;
  /** Tells what became of them. */
  reportAttended(task: TaskId, report: AttendedReport, options?: OfCaller): Promise<AttendReported>;
  /** The standing approvals of all projects. */
  approvals(): Promise<readonly StandingApproval[]>;
  /** Allows for good what an open approval asks about. `by` and `of` are ignored over HTTP. Answers nothing by itself. */
  addApproval(made: NewStandingApproval, by: Answerer, of?: OfCaller): Promise<StandingApproval>;
  revokeApproval(id: string): Promise<void>;
  cancel(task: TaskId, reason: string): Promise<readonly TaskId[]>;
  /**
   * Does the work of the task again. A root task that is over gives a new task with the same input. A task that is not over
   * is refused (`conflict`) unless `giveUp` is set; then its attempt is given up and its next one begins.
   */
  retry(
    task: TaskId,
    options?: {
      readonly giveUp?: boolean;
      /** An idempotency key: the same key of the same caller again retries nothing and gives the same task. */
      readonly key?: string;
    } & OfCaller,
  ): Promise<Retried>;
  /**
   * Sends a message to the task, which reads it at its next turn; `interrupt` ends what it is doing, so that it reads it at
   * once. For an invocation with one open task, here and below, that task is meant. Returns the task that was meant.
   */
  sendMessage(
    task: TaskId,
    text: string,
    options?: { readonly interrupt?: boolean } & Pick<OfCaller, "program">,
  ): Promise<TaskId>;
  /** Ends the attempt of the task. It waits until it is resumed, for 30 days at most. */
  stopTask(task: TaskId, reason: string): Promise<TaskId>;
  /**
   * Ends the task and all below it at once, and removes their workspaces. Uncommitted work is saved first; a workspace whose
   * work cannot be saved stays, and the reply says why. A task that is over only loses its workspace.
   */
  killTask(task: TaskId, reason: string): Promise<KilledTask>;
  /** The task goes on with what was said until it was stopped. `by` is ignored over HTTP. */
  resumeTask(task: TaskId, by: Answerer): Promise<TaskId>;
  /** Starts a conversation with the manager. Its id is that of its task. */
  startConversation(options?: NewConversation, of?: OfCaller): Promise<TaskId>;
  /**
   * Says something to the manager and returns the id of the message. The answer is a message of the task whose data names
   * that id. `by` is ignored over HTTP.
   */
  converse(conversation: TaskId, text: string, by: Answerer): Promise<string>;
  /**
   * A thread that begins with a task that is there already, so that it can be gone on with; the thread that the task is in,
   * if there is one. Something is said into a thread by an invocation with its name or id as `thread`.
   */
  beginThread(task: TaskId, options?: Omit<BeginThread, "task">): Promise<ThreadView>;
  /** The thread of what the agent was asked last in the project of the folder. A task that is in none begins one. */
  latestThread(of: LatestThread): Promise<ThreadView>;
  /** A copy of the thread, up to a message if one is named. Both go on by themselves. */
  forkThread(thread: ThreadId, options?: ForkThread): Promise<ThreadView>;
  /** All workspaces, oldest first, also those of tasks that are gone, and what lies among them and belongs to none. */
  workspaces(): Promise<{
    readonly workspaces: readonly WorkspaceView[];
    readonly leftovers: readonly WorkspaceLeftover[];
  }>;
  /** The workspace of the task's newest attempt, or of the only task below it that has one. */
  taskWorkspace(task: TaskId, options?: AttemptQuery, looking?: Looking): Promise<WorkspaceView>;
  /** The committed work of the task, or of the only task below it that has a workspace. */
  workspaceDiff(task: TaskId, options?: DiffQuery, looking?: Looking): Promise<WorkspaceDiff>;
  /** Merges the branch of the task. A conflict changes nothing (`conflict`, with the files in its details). */
  mergeTask(task: TaskId, options: MergeTask): Promise<MergedTask>;
  /** What would be pushed where and opened as a pull request, for a person to agree to. Changes nothing. */
  pullRequestPlan(task: TaskId, options?: PullRequestQuery, looking?: Looking): Promise<PullRequestPlan>;
  /**
   * Pushes and opens what a person agreed to, with the git and the `gh` of the process that does the work, and looks the
   * pull request up. If the plan is another one by now, nothing is pushed (`conflict`).
   */
  openPullRequest(task: TaskId, agreed: OpenPullRequest): Promise<OpenedPullRequest>;
  /**
   * Merges the work of tasks, in order, into the integration branch of their tree. A conflict changes nothing (`conflict`,
   * with what conflicts, what fits together and what is left in its details).
   */
  integrateTasks(options: IntegrateTasks): Promise<IntegratedTasks>;
  /** The branch stays as long as it has commits of its own. Uncommitted work is refused unless the options say what to do. */
  removeWorkspace(id: string, options?: RemoveQuery): Promise<RemovedView>;
  /** Makes a workspace again that was removed or is missing: the same folder, the same branch, the work that was saved. */
  restoreWorkspace(id: string): Promise<RestoredView>;
  /** Removes what is too old, and then the oldest until the rest is small enough; by the user's config without options. */
  pruneWorkspaces(options?: PruneWorkspaces): Promise<PrunedWorkspaces>;
  /** All schedules that go on, oldest first. */
  schedules(): Promise<readonly ScheduleView[]>;
  /** Starts the work at every time of a cron expression, on the clock of the machine that does the work. */
  addSchedule(schedule: NewSchedule, of?: OfCaller): Promise<MadeSchedule>;
  /** What the schedule started goes on. */
  removeSchedule(id: TaskId): Promise<void>;
  /** No new work begins until `resume`, also after a restart. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  route(question: PolicyQuestion): Promise<PolicyDecision>;
  review(question: ReviewQuestion): Promise<ReviewDecision>;
  operators(): Promise<readonly OperatorInfo[]>;
  keys(): Promise<readonly KeyView[]>;
  addKey(key: NewKey): Promise<MadeKey>;
  revokeKey(id: string): Promise<void>;
  /** A code with which a page in a browser signs in with the rights of this caller. It works once, for a minute. */
  makeSignInCode(): Promise<SignInCode>;
  /** In process: stops the work; unfinished tasks go on at the next start. Over HTTP: only closes the connection. */
  close(): Promise<void>;
}
