// Runs the inner runner of an assignment: in its workspace, with the brief of the handoff, until it returns or fails.

import { TaskInput } from "../../agent/delegation/task-input.ts";
import type { ChosenRoute } from "../../core/choose-route.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { RunnerConfig } from "../../protocol/invocation/executor.ts";
import type { AssignmentConfig } from "../../protocol/task/assignment.ts";
import type { Durable, GivenUp } from "../../ports.ts";
import { approved } from "../shared/approve-runner.ts";
import type { Carried, Standing, Work } from "./config.ts";
import type { Attempt } from "./attempt.ts";
import type { Worked } from "./attempt-records.ts";
import { innerPort } from "./inner-durable.ts";
import { workerBrief } from "./prompts.ts";
import { effortIn } from "./session-effort.ts";

const longestClaim = 20_000;
const longestFailure = 4_000;

export async function runInner(attempt: Attempt, route: ChosenRoute, work: Work): Promise<Worked> {
  const { durable, config, options, handoff, state } = attempt;
  const { kind } = route.runner;
  const run = Object.hasOwn(options.inner, kind) ? options.inner[kind] : undefined;
  if (run === undefined) throw new TuttiError("not_found", `there is no runner ${kind} that could do the task`);
  const standing: Standing = { state, handoff, work };
  const continues = baseOf(config) !== undefined;
  const brief = workerBrief({ handoff, evidence: work.evidence, criteria: work.criteria, continues });
  const { carried } = config;
  const next: Carried = { ...standing, base: carried?.base ?? null, commit: carried?.commit ?? null };
  const port = innerPort(durable, {
    standing,
    input: briefed(durable.input, brief),
    givenUp: (why: GivenUp) => ({ runner: { kind: "assignment", config: { ...config, carried: next } }, ...why }),
  });
  // Until the inner runner saves something of its own, a restart begins with this work again.
  if (!attempt.isRestored) port.durable.save("assigned.standing", undefined);
  // The policy's list belongs to the model that the policy chose.
  const isPolicys = route.chosen_by === "policy" || route.chosen_by === "default";
  const placed = placedConfig(attempt, route.runner, isPolicys ? work.fallback_models : undefined);
  // The coding agent of a project's definition is approved as it stands there, without what the assignment adds to it.
  const start =
    kind === "acp" && route.chosen_by === "agent"
      ? () => approved(kind, (inner) => run(inner, placed))(port.durable, route.runner.config)
      : () => run(port.durable, placed);
  let claim: unknown = null;
  let failure: string | null = null;
  try {
    claim = await start();
  } catch (thrown) {
    if (!isFailure(durable, thrown)) throw thrown;
    failure = thrown.message.slice(0, longestFailure);
  }
  const saved = port.saved();
  const effort = kind === "local" ? effortIn(await durable.messages()) : (port.effort() ?? null);
  const worked: Worked = { claim: shortened(claim), failure, saved: saved === undefined ? null : { ...saved }, effort };
  durable.save("assigned.worked", { assigned: { ...standing, worked } });
  return worked;
}

/** What ends the task itself, such as a cancel, is not a failure of the work. */
function isFailure({ signal }: Durable, thrown: unknown): thrown is TuttiError {
  if (signal.aborted || !(thrown instanceof TuttiError)) return false;
  return !["canceled", "stopped", "over_budget", "deadline", "internal", "disk_full"].includes(thrown.code);
}

function shortened(claim: unknown): unknown {
  const text = typeof claim === "string" ? claim : (JSON.stringify(claim) ?? "null");
  return text.length > longestClaim ? `${text.slice(0, longestClaim)}…` : (claim ?? null);
}

/** The brief follows the prompt. An input that is not a message is left as it is. */
function briefed(input: unknown, brief: string): unknown {
  if (brief === "") return input;
  if (typeof input === "string") return `${input}\n\n${brief}`;
  const read = TaskInput.safeParse(input);
  if (!read.success) return input;
  const { message } = read.data;
  return { ...read.data, message: { ...message, parts: [...message.parts, { part_type: "text", data: brief }] } };
}

/** The commit of the attempt before; a workspace that is no worktree has none to begin with. */
function baseOf({
  carried,
  workspace,
}: AssignmentConfig & { readonly carried: Carried | undefined }): string | undefined {
  const mode = workspace["mode"] ?? "worktree";
  return mode === "worktree" ? (carried?.commit ?? undefined) : undefined;
}

/** Agents of this process and coding agents work in a workspace; every other runner gets its own config alone. */
function placedConfig(
  { config, options }: Attempt,
  { kind, config: own }: RunnerConfig,
  nextModels: readonly string[] | undefined,
): unknown {
  if (kind !== "local" && kind !== "acp") return own;
  const { model, ...rest }: { model?: unknown } = Object(own);
  const base = baseOf(config);
  const { branch: _branch, with_changes: _changes, after: _after, ...again } = config.workspace;
  const workspace = base === undefined ? config.workspace : { ...again, base };
  const named = typeof model !== "string" ? {} : { model: kind === "local" ? options.resolveModel(model) : model };
  const then =
    kind !== "local" || nextModels === undefined ? {} : { fallback_models: nextModels.map(options.resolveModel) };
  return { ...rest, ...named, ...then, workspace };
}
