// The public surface of `tutti`: what a project's config is written with, and the pure decisions made over the protocol.
// The protocol itself is `tutti/protocol`: each name has one address, and a config does not load what it does not use.

export {
  defineTool,
  type StandardIssue,
  type StandardResult,
  type StandardSchema,
  type ToolDefinition,
  type UserToolContext,
} from "./agent/tools/define-tool.ts";
export {
  type HandoffEvent,
  type HandoffState,
  advanceHandoff,
  handoffLimits,
  newHandoffState,
} from "./core/handoff-machine.ts";
export { defineRunner, type RunnerDefinition, type RunnerTask } from "./runner/registered/define-runner.ts";
export {
  agent,
  type AgentModel,
  type AgentOptions,
  type AgentTool,
  type AnyAgent,
  type BuiltinTool,
  type CodeAgent,
  type OutputOf,
  type ScriptedModel,
} from "./library/code-agent.ts";
export { type CodeTool, tool, type ToolApproval, type ToolOptions } from "./library/code-tool.ts";
export {
  type CodeWorkflow,
  type NamedRunOptions,
  workflow,
  type WorkflowAsk,
  type WorkflowContext,
  type WorkflowOptions,
  type WorkflowStep,
  type WorkflowStepOptions,
} from "./library/code-workflow.ts";
export type { PlainPart } from "./library/run-parts.ts";
export type {
  AskAnswer,
  FanOutRun,
  LocalTutti,
  OnAsk,
  OpenTutti,
  Thread,
  ParkedTask,
  Run,
  RunAsk,
  RunPart,
  StartRunOptions,
  StreamOptions,
} from "./library/opened-tutti.ts";
export { type OpenLocalOptions, type OpenRemoteOptions, openTutti, type TestingOptions } from "./library/open-tutti.ts";
export type { RunOutcome } from "./library/run-outcome.ts";
export type { Recorded } from "./library/recorded.ts";
export {
  type AnyTarget,
  type NamedTarget,
  type OutcomesOf,
  type OutputsOf,
  type Target,
  target,
} from "./library/run-target.ts";
export type { ModelObject } from "./model/model-object.ts";
export { type ErrorCode, TuttiError } from "./protocol/error.ts";
export { inheritHistory, snapshotHistory } from "./core/history.ts";
export { type Launch, launchable, refuseDirectWork } from "./core/launch.ts";
export {
  type ExecutorError,
  type ExecutorRequest,
  type ExecutorResolution,
  resolveExecutor,
} from "./core/resolve-executor.ts";
export { judgeReview, namesRisk, reviewNeed } from "./core/review-verdict.ts";
export { type LifeEvent, nextStatus, type Transition } from "./core/task-state.ts";
export type { Effect } from "./protocol/invocation/approval-policy.ts";
