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
