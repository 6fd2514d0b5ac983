// The public surface of the package: the protocol, and the pure decisions over it. By name only.

export * from "./protocol/index.ts";

export { type AvailableRunner, type ExecutorError, type ExecutorRequest, resolveExecutor } from "./core/executor.ts";
export { inheritHistory, snapshotHistory } from "./core/history.ts";
export { type Launch, launchable, refuseDirectWork } from "./core/launch.ts";
export { type LifeEvent, nextStatus, type Transition } from "./core/task-state.ts";
