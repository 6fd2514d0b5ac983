// The public surface of `tutti/protocol`: what is named here is API, everything else may change tomorrow.

export { type ErrorCode, errorTable, type Retry, toTuttiError, TuttiError, type TuttiErrorOptions } from "./error.ts";
export { Failure, toFailure } from "./failure.ts";

// Commands
export { argvLine, argvNotes } from "./argv-line.ts";

// Decisions
export { Decision, type Dropped, isLaunchable, TaskSpec } from "./decision/decision.ts";
export {
  parseDecision,
  type ParsedDecision,
  type ParseDecisionOptions,
  type RepromptReason,
} from "./decision/parse-decision.ts";
export { renderDecisionPrompt } from "./decision/render-decision-prompt.ts";
export { renderReprompt } from "./decision/render-reprompt.ts";

// Tool calls
export { Profile } from "./toolcalls/dialect.ts";
export { parseToolCalls, type ToolCallOptions } from "./toolcalls/parse-tool-calls.ts";
export { renderToolCall } from "./toolcalls/render-tool-call.ts";
export { renderToolContract } from "./toolcalls/render-tool-contract.ts";
export {
  createToolCallReader,
  type ReaderOptions,
  type ToolCallEvent,
  type ToolCallReader,
} from "./toolcalls/tool-call-reader.ts";
export type {
  Json,
  JsonObject,
  ModelDialect,
  ParsedToolCall,
  ToolCallError,
  ToolCallErrorCode,
  ToolCallReply,
  Violation,
  ViolationKind,
} from "./toolcalls/tool-call.ts";
export type { ToolDeclaration } from "./toolcalls/declare-tool.ts";
export { type FeedbackOptions, toolFeedback } from "./toolcalls/tool-feedback.ts";

// Invocations
export { anyWords } from "./invocation/standing-approval.ts";
export { Executor, ExecutorHint, RunnerConfig } from "./invocation/executor.ts";
export { type AvailableRunner, builtinRunners } from "./invocation/runner-kinds.ts";
export { ToolDelivery, ToolPolicy, ToolsConfig } from "./invocation/tool-policy.ts";
export {
  AgentRef,
  ContextScope,
  Invocation,
  type InvocationReading,
  Join,
  readInvocation,
  Target,
} from "./invocation/invocation.ts";
export {
  type AdHocOptions,
  adhoc,
  all,
  detached,
  type InvocationOptions,
  named,
  type NamedOptions,
  single,
} from "./invocation/invocation-builders.ts";
export { AgentResult, InvocationResult, TaskSnapshot } from "./invocation/invocation-result.ts";
export { describeInvocationError, type InvocationError, validateInvocation } from "./invocation/invocation-rules.ts";
export { InvokeAgentInput, type InvokeAgentReading, readInvokeAgent, toInvocation } from "./invocation/invoke-agent.ts";
export type { ReadIssue } from "./lenient-read.ts";
export {
  AgentDefinition,
  ExternalTool,
  InvocationFile,
  type InvocationFileReading,
  readInvocationFile,
  TreeOperators,
} from "./invocation/invocation-file.ts";
export { type RehearsalRule, RehearsalScript } from "./invocation/rehearsal-script.ts";

// Routing
export { defaultPolicy, initialPolicy } from "./routing/default-policy.ts";
export { encodePolicy } from "./routing/encode-policy.ts";
export { Handoff } from "./routing/handoff.ts";
export { type ModelRef, parseModelRef } from "./routing/model-ref.ts";
export { Policy } from "./routing/policy.ts";
export { readHandoff } from "./routing/read-handoff.ts";
export type { Read } from "./routing/read-notes.ts";
export { readPolicy } from "./routing/read-policy.ts";
export { readReview } from "./routing/read-review.ts";
export type { RouteProblem } from "./routing/required-fields.ts";
export { Review } from "./routing/review.ts";
export { effectiveThreshold, isEscalation, route, type Route, type RouteDecision } from "./routing/route-handoff.ts";

// Operators and workers
export { digestSecret, sameDigest } from "./operator/digest.ts";
export { type DirectiveFacts, spawnDirective } from "./operator/directive.ts";
export {
  AnswerFrame,
  AskFrame,
  ClientFrame,
  ErrorFrame,
  FrameFault,
  HookAckFrame,
  HookAfterFrame,
  HookBeforeFrame,
  operatorSubprotocol,
  ServerFrame,
  SpawnAckFrame,
  SpawnFrame,
} from "./operator/frames.ts";
export { isHandle, newHandle } from "./operator/handle.ts";
export { matchReply, type NotOpen, type ReplyMatch, type ReplyTo } from "./operator/match-reply.ts";
export {
  JoinedOperator,
  JoinOperator,
  OperatorInfo,
  OperatorSid,
  OperatorTicket,
  RolesConflict,
} from "./operator/operator-session.ts";
export { anyOperator, OperatorName } from "./operator/operator-name.ts";
export { type ClientFrameRead, maxFrameLength, readClientFrame } from "./operator/read-client-frame.ts";
export { refuseFrame } from "./operator/refuse-frame.ts";
export {
  formatRequestId,
  parseRequestId,
  type RequestIdParts,
  type RequestKind,
  requestKinds,
} from "./operator/request-id.ts";
export { type SpawnVerdict, spawnVerdict } from "./operator/spawn-verdict.ts";
export { generateKey, importKey, type TokenKey } from "./operator/token-key.ts";
export {
  checkClaims,
  defaultTokenLife,
  type IssuedToken,
  issueToken,
  maxTokenLength,
  openToken,
  type RefusedToken,
  renewToken,
  type TokenCheck,
  TokenClaims,
  type TokenDemand,
  type TokenGrant,
  type TokenLife,
  type TokenRefusal,
  tokenRefusals,
  verifyToken,
  WorkerVerb,
} from "./operator/capability-token.ts";
export {
  submittedOk,
  WorkerAsk,
  WorkerAskAnswer,
  WorkerEvent,
  WorkerEvents,
  WorkerEventsAccepted,
  WorkerPrompt,
  WorkerPromptQuery,
  WorkerQuestion,
  WorkerRecorded,
  WorkerRefusal,
  type WorkerRefusalReason,
  workerRefusals,
  WorkerResult,
  WorkerSubmitQuery,
} from "./operator/worker.ts";

// The HTTP API
export {
  AgentList,
  AgentProblem,
  AgentSummary,
  AgentView,
  ModelList,
  ModelView,
  PolicyDecision,
  PolicyQuestion,
  ReviewDecision,
  ReviewQuestion,
  RunnerList,
  RunnerView,
} from "./api/catalog.ts";
export { openApiDocument } from "./api/openapi-document.ts";
export { Problem, problemType } from "./api/problem.ts";
export { KeyList, KeyRole, KeyView, MadeKey, NewKey, ServiceStatus } from "./api/service.ts";
export {
  AskList,
  EventPage,
  ListedAsk,
  ListedTask,
  ListedWait,
  MessagePage,
  OpenAsk,
  OpenQuery,
  OpenWait,
  PageQuery,
  Started,
  StepPage,
  StepView,
  StreamEnd,
  TaskListQuery,
  TaskOutcome,
  TaskPage,
  TaskTree,
  TreeQuery,
  WaitList,
} from "./api/task-shapes.ts";

// What all of them share
export {
  ApprovalPolicy,
  ApprovalRule,
  ApprovalRules,
  defaultApprovalPolicy,
  Effect,
} from "./invocation/approval-policy.ts";
export {
  Answer,
  Answerer,
  type AnswerReading,
  Ask,
  AskKind,
  defaultAskMs,
  type ExpiryMeaning,
  expiryMeaning,
  readAnswer,
} from "./task/ask.ts";
export { Budget, BudgetLimit, defaultBudget, Usage } from "./task/budget.ts";
export { LiveDelta, TaskEvent } from "./task/event.ts";
export { Evidence, EvidenceFact } from "./task/evidence.ts";
export { isWithinCheck, StartedCheck, startedCheckText } from "./task/started-check.ts";
export { Criterion, Goal, GoalLink, GoalNote, GoalStatus, PlannedTask } from "./task/goal.ts";
export { AskId, EvidenceId, GoalId, TaskId, Time } from "./ids.ts";
export {
  CompleteMessage,
  completeMessage,
  FileContent,
  FileMetadata,
  isBlankMessage,
  keepParts,
  Message,
  MessageRole,
  messageText,
  Part,
  PartMetadata,
  PartsMetadata,
  ResourceLink,
  savedMessage,
  ToolCall,
  ToolResult,
  userMessage,
} from "./task/message.ts";
export { ResultPreview, RootSummary, TaskSummary, TaskView } from "./task/task-view.ts";
export { maxHandovers } from "./task/max-handovers.ts";
export { Attempt, AttemptOutcome, Task } from "./task/task.ts";
export {
  type A2AVersion,
  fromA2AState,
  isTerminal,
  TaskStatus,
  TerminalStatus,
  toA2AState,
} from "./task/task-status.ts";
