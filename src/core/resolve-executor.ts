// Decides where the loop of a target runs, from the hints, the agent's runtimes, the caller's and the available runners.

import type { Executor, ExecutorHint, RunnerConfig } from "../protocol/invocation/executor.ts";
import type { AvailableRunner } from "../protocol/invocation/runner-kinds.ts";

export interface ExecutorRequest {
  readonly invocation: ExecutorHint;
  /** Replaces the invocation's hint entirely when present. */
  readonly target?: ExecutorHint | undefined;
  /** Runtimes the agent can run in; empty means anywhere. */
  readonly agentRuntimes: readonly string[];
  /** The runner that the agent's definition names, with its config. */
  readonly agentRunner?: RunnerConfig | undefined;
  /** Runtimes the calling orchestrator offers by itself. */
  readonly callerRuntimes: readonly string[];
  /** In order of preference. */
  readonly runners: readonly AvailableRunner[];
  /** For a handover, whose task stays in this orchestrator: a remote executor is refused. */
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

/** Every request gives an executor or an error. The answer is final; nothing decides about it again later. */
export function resolveExecutor(request: ExecutorRequest): ExecutorResolution {
  const resolution = resolveHint(request.target ?? request.invocation, request);
  if (resolution.ok && resolution.executor.type === "remote" && request.localOnly === true) {
    return refuse(request, "local_only", `a handover cannot move to runner "${resolution.executor.runner.kind}"`);
  }
  return resolution;
}

function resolveHint(hint: ExecutorHint, request: ExecutorRequest): ExecutorResolution {
  if (hint.kind === "auto") return resolveAuto(request);
  if (hint.type === "local") return { ok: true, executor: localExecutor(hint) };
  const { runner } = hint;
  if (!request.runners.some(({ kind }) => kind === runner.kind)) {
    return refuse(request, "unknown_runner", `there is no runner "${runner.kind}"`);
  }
  return { ok: true, executor: { type: "remote", runner } };
}

/**
 * The runner that the agent names. For an agent that names none: local if the agent can run here, else the first runner
 * that offers a runtime the agent can run in.
 */
function resolveAuto(request: ExecutorRequest): ExecutorResolution {
  const { agentRuntimes, agentRunner, callerRuntimes, runners } = request;
  if (agentRunner !== undefined) return resolveOwn(request, agentRunner);
  if (agentRuntimes.length === 0 || agentRuntimes.some((runtime) => callerRuntimes.includes(runtime))) {
    return { ok: true, executor: { type: "local" } };
  }
  const runner = runners.find(({ runtime }) => agentRuntimes.includes(runtime));
  if (runner === undefined) return refuse(request, "no_common_runtime", "nothing here can run this agent");
  return { ok: true, executor: { type: "remote", runner: { kind: runner.kind, config: {} } } };
}

function resolveOwn(request: ExecutorRequest, runner: RunnerConfig): ExecutorResolution {
  const { agentRuntimes, callerRuntimes, runners } = request;
  const runtimes =
    runner.kind === "local" ? callerRuntimes : runners.filter(({ kind }) => kind === runner.kind).map((r) => r.runtime);
  if (runtimes.length === 0) return refuse(request, "unknown_runner", `there is no runner "${runner.kind}"`);
  if (agentRuntimes.length > 0 && !runtimes.some((runtime) => agentRuntimes.includes(runtime))) {
    return refuse(request, "no_common_runtime", `the runner "${runner.kind}" gives none of the agent's runtimes`);
  }
  const executor: Executor =
    runner.kind === "local" ? localExecutor(Object(runner.config)) : { type: "remote", runner };
  return { ok: true, executor };
}

function localExecutor({ workspace }: { readonly workspace?: unknown }): Executor {
  return { type: "local", ...(workspace === undefined ? {} : { workspace }) };
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
