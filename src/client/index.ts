// The public surface of `tutti/client`: what a program in Node or a browser needs to talk to a running Tutti.

export type { AnswerOutcome, EventOrDelta, FollowOptions, Reader, Tutti } from "./client.ts";
export { type Service, service, type ServiceOptions } from "./call.ts";
export { httpClient, type HttpClientOptions } from "./http-client.ts";
export {
  type HookVerdict,
  joinOperator,
  type OperatorConnection,
  type OperatorEnd,
  type OperatorHandlers,
  type OperatorOptions,
  operatorSocket,
  type SpawnReply,
} from "./operator-client.ts";
export { type WorkerClient, workerClient, type WorkerOptions } from "./worker-client.ts";
export { type ErrorCode, TuttiError } from "../protocol/error.ts";

// The types that the signatures above speak of; their schemas are in `tutti/protocol`.
export type {
  AgentSummary,
  ModelView,
  PolicyDecision,
  PolicyInForce,
  PolicyQuestion,
  RunnerView,
} from "../protocol/api/catalog.ts";
export type { GoalPage, GoalView, ListedGoal, StartedGoal, StartGoal } from "../protocol/api/goal-shapes.ts";
export type { Board, FleetTasks, SearchPage } from "../protocol/api/insight-shapes.ts";
export type { NodeList, NodeView } from "../protocol/api/node-shapes.ts";
export type { KeyRole, KeyView, MadeKey, NewKey, ServiceSetup, ServiceStatus } from "../protocol/api/service.ts";
export type {
  HistoryPage,
  HistoryQuery,
  ListedAsk,
  ListedTask,
  ListedWait,
  MessagePage,
  OpenAsk,
  OpenWait,
  PageQuery,
  Started,
  StepPage,
  TaskListQuery,
  TaskPage,
} from "../protocol/api/task-shapes.ts";
export type {
  BeginThread,
  ForkThread,
  LatestThread,
  ThreadListQuery,
  ThreadMessagePage,
  ThreadMessagesQuery,
  ThreadPage,
  ThreadView,
} from "../protocol/api/thread-shapes.ts";
export type { OpenedPullRequest, OpenPullRequest, PullRequestPlan } from "../protocol/api/pull-request-shapes.ts";
export type {
  DiffFile,
  MergedTask,
  PrunedWorkspaces,
  RemovedView,
  RestoredView,
  WorkspaceDiff,
  WorkspaceLeftover,
  WorkspaceView,
} from "../protocol/api/workspace-shapes.ts";
export type { AskId, TaskId, ThreadId } from "../protocol/ids.ts";
export type { AgentResult } from "../protocol/invocation/invocation-result.ts";
export type { AskFrame, HookAfterFrame, HookBeforeFrame, SpawnFrame } from "../protocol/operator/frames.ts";
export type { JoinedOperator, OperatorInfo } from "../protocol/operator/operator-session.ts";
export type { WorkerAskAnswer, WorkerPrompt, WorkerRecorded } from "../protocol/operator/worker.ts";
export type { Answer, Answerer } from "../protocol/task/ask.ts";
export type { ConversationTurn, ConversationView } from "../protocol/conversation/conversation-view.ts";
export type { LiveDelta, TaskEvent } from "../protocol/task/event.ts";
export type { GoalReport } from "../protocol/task/goal-report.ts";
export type { Observation } from "../protocol/task/observation.ts";
export type { TaskBudget } from "../protocol/task/task-budget.ts";
export type { ResultPreview, TaskSummary, TaskView } from "../protocol/task/task-view.ts";
