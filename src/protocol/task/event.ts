// The events of tasks and of the goals they work for: what happened, in order. Every screen and every restart reads this one stream.

import { z } from "zod";
import { Answer, Answerer, Ask } from "./ask.ts";
import { Budget, BudgetLimit, Usage } from "./budget.ts";
import { Evidence } from "./evidence.ts";
import { Failure } from "../failure.ts";
import { Criterion, Goal, GoalLink, GoalStatus, PlannedTask } from "./goal.ts";
import { Handoff } from "../routing/handoff.ts";
import { AskId, EvidenceId, TaskId, Time } from "../ids.ts";
import { ModelWait } from "./model-wait.ts";
import { CompleteMessage } from "./message.ts";
import { StartedCheck } from "./started-check.ts";
import { Ordinal } from "./task.ts";
import { violationKinds } from "../toolcalls/tool-call.ts";

/** The global sequence, without reuse: a reader that returns with the last one it saw misses nothing (invariant 9). */
export const EventSeq = z.int().positive();

function taskEvent<const T extends string, D extends z.ZodType>(type: T, data: D) {
  return z.strictObject({
    seq: EventSeq,
    at: Time,
    task: TaskId,
    root: TaskId,
    /** The attempt and run it happened in, where it happened in one. */
    attempt: Ordinal.optional(),
    run: Ordinal.optional(),
    type: z.literal(type),
    data,
  });
}

const nothing = z.strictObject({});
const stepKey = z.string().min(1);

/** The only events that end a task; each task has exactly one of them (invariant 2). */
const terminalEvents = [
  taskEvent("task.completed", z.strictObject({ content: z.unknown() })),
  taskEvent("task.failed", z.strictObject({ error: Failure, content: z.unknown().optional() })),
  taskEvent("task.canceled", z.strictObject({ reason: z.string() })),
] as const;

const lifeEvents = [
  taskEvent(
    "task.created",
    z.strictObject({
      agent: z.string(),
      runner: z.string(),
      parent: TaskId.nullable(),
      depth: z.int().nonnegative(),
      detached: z.boolean(),
      /** The text it begins with, where it begins with one. */
      prompt: z.string().optional(),
    }),
  ),
  taskEvent("task.started", nothing),
  taskEvent("task.input_required", z.strictObject({ ask: AskId })),
  taskEvent("task.resumed", nothing),
  taskEvent(
    "task.handed_over",
    z.strictObject({ from_agent: z.string(), to_agent: z.string(), reason: z.string().optional(), hop: Ordinal }),
  ),
  taskEvent("run.started", z.strictObject({ agent: z.string().min(1) })),
  /** This attempt is over, and another follows. `unknown`: its work may have been done. `stopped`: when it is resumed. */
  taskEvent("attempt.ended", z.strictObject({ outcome: z.enum(["unknown", "failed", "stopped"]), reason: z.string() })),
] as const;

const workEvents = [
  taskEvent(
    "message.added",
    z.strictObject({
      message: CompleteMessage,
      /** The step that produced the message; absent when no step did. This event then is that step's outcome. */
      step: z
        .strictObject({
          key: stepKey,
          tokens: z.int().nonnegative(),
          /** Null when the price of the call is not known. */
          money_micro_usd: z.int().nonnegative().nullable(),
        })
        .optional(),
    }),
  ),
  taskEvent(
    "step.finished",
    z.strictObject({
      key: stepKey,
      outcome: z.enum(["ok", "failed", "unknown"]),
      error: Failure.optional(),
      tokens: z.int().nonnegative(),
      money_micro_usd: z.int().nonnegative(),
    }),
  ),
  taskEvent("evidence.added", z.strictObject({ evidence: Evidence })),
  /** What follows on the same task says that the run is over. */
  taskEvent("check.started", StartedCheck),
] as const;

/** Of an agent outside of Tutti that works on the task as a session of its own, such as a coding agent. */
const sessionEvents = [
  taskEvent(
    "session.started",
    z.strictObject({
      /** Which agent it is, and the session's id there. */
      profile: z.string(),
      session: z.string(),
      /** What the agent calls itself, as far as it says. */
      agent: z.strictObject({ name: z.string(), version: z.string() }).nullable(),
      model: z.string().nullable(),
      mode: z.string().nullable(),
      folder: z.string(),
      confined: z.boolean(),
      /** An earlier conversation goes on. */
      resumed: z.boolean(),
    }),
  ),
  /** A prompt was delivered. Only what comes after it is the session's own output: not an echo, not replayed history. */
  taskEvent("session.prompted", z.strictObject({ prompt: Ordinal })),
  /** What the session says of its work, apart from messages: tool calls, plans, usage. A claim. Unknown kinds are kept as they came. */
  taskEvent("session.updated", z.strictObject({ kind: z.string(), update: z.unknown() })),
  /** Nothing was heard of the session for so long. */
  taskEvent("session.stalled", z.strictObject({ silent_ms: z.int().nonnegative() })),
  /** The prompt was answered, or given up. */
  taskEvent("session.answered", z.strictObject({ prompt: Ordinal, reason: z.string() })),
  taskEvent("session.ended", z.strictObject({ reason: z.string() })),
  /** What the session left in its workspace, as git counts it after the session's processes ended. */
  taskEvent(
    "session.saved",
    z.strictObject({
      workspace: z.string(),
      mode: z.enum(["worktree", "shared", "copy"]),
      folder: z.string(),
      /** The machine that the folder is on, where there are several. */
      machine: z.string().optional(),
      branch: z.string().nullable(),
      base: z.string().nullable(),
      tip: z.string().nullable(),
      commits: z.int().nonnegative(),
      files: z.int().nonnegative(),
      added: z.int().nonnegative(),
      removed: z.int().nonnegative(),
      /** Files with work that is in no commit. */
      uncommitted: z.int().nonnegative(),
      warnings: z.array(z.string()),
    }),
  ),
] as const;

const limitEvents = [
  /** A standing approval allowed a call, so nobody was asked. `text` says what it allows. */
  taskEvent("call.allowed", z.strictObject({ tool: z.string(), rule: z.string(), text: z.string() })),
  /** The agent goes on with another model, or calls its tools in another format; `reason` says why. */
  taskEvent(
    "model.changed",
    z.strictObject({ from: z.string(), to: z.string(), format: z.enum(["native", "fenced"]), reason: z.string() }),
  ),
  /** The form of calls in a reply was not what the agent was told to write, though it was understood; `count` in that reply. */
  taskEvent(
    "call.drifted",
    z.strictObject({
      kind: z.enum(violationKinds),
      /** The model's own dialect, for calls in one. */
      dialect: z.string().optional(),
      /** About the first of them. */
      message: z.string(),
      count: z.int().positive(),
    }),
  ),
  taskEvent("model.waiting", ModelWait),
  taskEvent("ask.raised", z.strictObject({ ask: Ask })),
  taskEvent("ask.answered", z.strictObject({ ask: AskId, answer: Answer, by: Answerer })),
  taskEvent("ask.expired", z.strictObject({ ask: AskId, meaning: z.enum(["no_answer", "denied", "stop"]) })),
  taskEvent("ask.withdrawn", z.strictObject({ ask: AskId })),
  /** The answer came when the task could not check it, and later did not fit: the question is asked again. */
  taskEvent("ask.reopened", z.strictObject({ ask: AskId, reason: z.string() })),
  /** A wait without a question: an outside party settles it by its id. */
  taskEvent(
    "wait.opened",
    z.strictObject({
      wait: AskId,
      label: z.string(),
      /** The call whose result is waited for, when the client carries the tool out itself. */
      call: z.strictObject({ tool_name: z.string(), input: z.unknown() }).optional(),
      deadline: Time,
    }),
  ),
  taskEvent("wait.settled", z.strictObject({ wait: AskId, outcome: z.enum(["answered", "expired", "withdrawn"]) })),
  taskEvent("wait.reopened", z.strictObject({ wait: AskId, reason: z.string() })),
  /**
   * What a step used, booked apart from its outcome: the step reported it while it ran, or the run was ended while the
   * call was under way. `presumed`: the process died at that time, and the call is booked as if it had been sent.
   */
  taskEvent("budget.settled", z.strictObject({ key: stepKey, spent: Usage, presumed: z.boolean().optional() })),
  taskEvent("budget.reached", z.strictObject({ limit: BudgetLimit, allowed: z.number(), wanted: z.number() })),
  taskEvent(
    "budget.raised",
    z.strictObject({
      /** Of the whole tree. */
      budget: Budget,
      /** What was set apart for this task was raised: what it may use of it now. */
      apart: z.strictObject({ task: TaskId, limit: BudgetLimit, allowed: z.number() }).optional(),
    }),
  ),
] as const;

/** Of a goal, on the task of its manager. What a goal is now is folded from these. */
const goalEvents = [
  taskEvent("goal.created", z.strictObject({ goal: Goal })),
  /** Criteria that were added. */
  taskEvent("goal.criteria_added", z.strictObject({ criteria: z.array(Criterion) })),
  /** Criteria of the model's making that a person agreed to. */
  taskEvent("goal.criteria_confirmed", z.strictObject({ ids: z.array(z.string()), by: Answerer })),
  taskEvent(
    "goal.planned",
    z.strictObject({
      round: z.int().positive(),
      tasks: z.array(PlannedTask),
      /** Parts of the decision that are not carried out. */
      dropped: z.array(z.strictObject({ what: z.string(), reason: z.string() })),
    }),
  ),
  taskEvent("goal.linked", z.strictObject({ task: TaskId, planned: z.string() })),
  taskEvent(
    "goal.link_changed",
    z.strictObject({
      task: TaskId,
      state: GoalLink.shape.state,
      superseded_by: TaskId.nullable(),
      evidence: z.array(EvidenceId),
      reason: z.string(),
    }),
  ),
  taskEvent(
    "goal.criterion_judged",
    z.strictObject({ id: z.string(), state: Criterion.shape.state, evidence: z.array(EvidenceId), reason: z.string() }),
  ),
  /** The work of its tasks was merged into one branch, on which the criteria were checked as a whole. */
  taskEvent(
    "goal.integrated",
    z.strictObject({ branch: z.string().nullable(), commit: z.string(), tree: z.string().nullable() }),
  ),
  taskEvent("goal.noted", z.strictObject({ text: z.string().min(1) })),
  taskEvent("goal.changed", z.strictObject({ status: GoalStatus, reason: z.string() })),
] as const;

/** Of a delegated task: who it went to and why, and how it was passed on. */
const routingEvents = [
  taskEvent(
    "route.decided",
    z.strictObject({
      handoff: Handoff,
      model: z.string(),
      runner: z.string(),
      /** A person's choice beats the policy, and the policy beats the agent's definition. */
      chosen_by: z.enum(["person", "policy", "agent", "default"]),
      reason: z.string(),
      matched_by: z.string(),
      words: z.array(z.string()),
    }),
  ),
  taskEvent(
    "handoff.moved",
    z.strictObject({ from: z.string(), to: z.string(), decision: z.string(), reason: z.string(), hash: z.string() }),
  ),
] as const;

export const TaskEvent = z.discriminatedUnion("type", [
  ...lifeEvents,
  ...terminalEvents,
  ...workEvents,
  ...sessionEvents,
  ...limitEvents,
  ...goalEvents,
  ...routingEvents,
]);
export type TaskEvent = z.infer<typeof TaskEvent>;

/**
 * `text` and `reasoning` of a reply, `tool` for a call that is being written, `output` of a program that runs. A `notice`
 * is for people: the call is made again, and its text begins anew.
 */
export const LiveChannel = z.enum(["text", "reasoning", "tool", "output", "notice"]);
export type LiveChannel = z.infer<typeof LiveChannel>;

/** A piece of text while it is written. Not an event: it has no sequence and is not stored; the message that follows is. */
export const LiveDelta = z.strictObject({
  task: TaskId,
  root: TaskId,
  attempt: Ordinal,
  run: Ordinal,
  /** The step that streams. */
  key: stepKey,
  channel: LiveChannel,
  /** Characters of this step and channel before the text; above 0 for a reader that missed the beginning. */
  offset: z.int().nonnegative(),
  text: z.string(),
});
export type LiveDelta = z.infer<typeof LiveDelta>;
