// The public surface of the package: the protocol, the pure decisions over it, and what a project's config is written with.

export * from "./protocol/index.ts";

export {
  defineTool,
  type StandardSchema,
  type ToolDefinition,
  type UserToolContext,
} from "./agent/tools/define-tool.ts";
export {
  type AvailableRunner,
  type ExecutorError,
  type ExecutorRequest,
  resolveExecutor,
} from "./core/resolve-executor.ts";
export { inheritHistory, snapshotHistory } from "./core/history.ts";
export { type Launch, launchable, refuseDirectWork } from "./core/launch.ts";
export { type LifeEvent, nextStatus, type Transition } from "./core/task-state.ts";
