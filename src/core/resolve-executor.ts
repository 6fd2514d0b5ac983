// Decides which orchestrator runs a target's loop, from the hints and from what the agent, the caller and the house allow.

import type { Executor, ExecutorHint } from "../protocol/invocation/executor.ts";

/** A registered runner and the runtime it gives an agent. */
export interface AvailableRunner {
  readonly kind: string;
  readonly runtime: string;
}

export interface ExecutorRequest {
  readonly invocation: ExecutorHint;
  /** Replaces the invocation's hint entirely when present. */
  readonly target?: ExecutorHint | undefined;
  /** Runtimes the agent can run in; empty means anywhere. */
  readonly agentRuntimes: readonly string[];
  /** Runtimes the calling orchestrator offers by itself. */
  readonly callerRuntimes: readonly string[];
  /** In order of preference. */
  readonly runners: readonly AvailableRunner[];
  /** A handover keeps its task here: whatever would run elsewhere is refused. */
  readonly localOnly?: boolean;
}

export interface ExecutorError {
  readonly kind: "no_common_runtime" | "unknown_runner" | "local_only";
  /** Says what was asked for and names the three sets. */
  readonly message: string;
  readonly agentRuntimes: readonly string[];
  readonly callerRuntimes: readonly string[];
  readonly runners: readonly AvailableRunner[];
}

export type ExecutorResolution =
  | { readonly ok: true; readonly executor: Executor }
  | { readonly ok: false; readonly error: ExecutorError };

/** Total: every request gives an executor or an error. The answer is final; nothing downstream decides again. */
export function resolveExecutor(request: ExecutorRequest): ExecutorResolution {
  const resolution = resolveHint(request.target ?? request.invocation, request);
  if (resolution.ok && resolution.executor.type === "remote" && request.localOnly === true) {
    return refuse(request, "local_only", `a handover cannot move to runner "${resolution.executor.runner.kind}"`);
  }
  return resolution;
}

function resolveHint(hint: ExecutorHint, request: ExecutorRequest): ExecutorResolution {
  if (hint.kind === "auto") return resolveAuto(request);
  if (hint.type === "local") return { ok: true, executor: { type: "local" } };
  const { runner } = hint;
  if (!request.runners.some(({ kind }) => kind === runner.kind)) {
    return refuse(request, "unknown_runner", `there is no runner "${runner.kind}"`);
  }
  return { ok: true, executor: { type: "remote", runner } };
}

/** Here if the agent can run here, else with the first runner that gives it a runtime it can run in. */
function resolveAuto(request: ExecutorRequest): ExecutorResolution {
  const { agentRuntimes, callerRuntimes, runners } = request;
  if (agentRuntimes.length === 0 || agentRuntimes.some((runtime) => callerRuntimes.includes(runtime))) {
    return { ok: true, executor: { type: "local" } };
  }
  const runner = runners.find(({ runtime }) => agentRuntimes.includes(runtime));
  if (runner === undefined) return refuse(request, "no_common_runtime", "nothing here can run this agent");
  return { ok: true, executor: { type: "remote", runner: { kind: runner.kind, config: {} } } };
}

function refuse(request: ExecutorRequest, kind: ExecutorError["kind"], what: string): ExecutorResolution {
  const { agentRuntimes, callerRuntimes, runners } = request;
  const offered = runners.map((runner) => `${runner.kind} (${runner.runtime})`);
  const message =
    `${what}: the agent runs in ${listed(agentRuntimes, "any runtime")}; ` +
    `the caller offers ${listed(callerRuntimes, "none")}; available runners: ${listed(offered, "none")}`;
  return { ok: false, error: { kind, message, agentRuntimes, callerRuntimes, runners } };
}

function listed(names: readonly string[], none: string): string {
  return names.length === 0 ? none : names.join(", ");
}
