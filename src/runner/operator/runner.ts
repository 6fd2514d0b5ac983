// The runner `operator`: offers the task to an operator and waits for the result of the worker that the operator launches.

import { z } from "zod";

import { TaskInput } from "../../agent/delegation/task-input.ts";
import { Answer } from "../../protocol/task/ask.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { TaskId } from "../../protocol/ids.ts";
import { PostedResult, SpawnAnswer } from "../../protocol/operator/operator-request.ts";
import { operatorKeys, operatorLabel } from "../../protocol/operator/operator-waits.ts";
import { spawnVerdict } from "../../protocol/operator/spawn-verdict.ts";
import type { Durable, Runner, Selected, Source, Wait } from "../../ports.ts";
import { type OperatorConfig, readOperatorConfig } from "./config.ts";
import { endFailedWork, type FailedWork, workFailure } from "./failed-work.ts";
import { keepMail, operatorFailureIn, settleWorkerUsage, takeMail, tellsRightsEnded } from "./take-mail.ts";

export interface Leases {
  /** The milliseconds that the worker of this attempt may still be silent; zero or less when its lease is over. */
  leaseLeft(task: TaskId, attempt: number, offer: { readonly acked: boolean }): number | Promise<number>;
  /** Whether a worker has fetched the prompt of this attempt or posted progress. */
  hasWorker(task: TaskId, attempt: number): boolean | Promise<boolean>;
}

/** Stored with the task; the field names are part of the record. */
const RunState = z.object({
  turn: z.int(),
  /** Whether the operator has answered the offer. */
  acked: z.boolean(),
  /** The turn in which a person was asked about the silent worker; null while nobody is asked. */
  asked: z.int().nullable(),
  /** How long the worker may be silent from now on, in milliseconds; null when that has to be looked up. */
  patience: z.number().nullable(),
  /** The worker has lost its rights: the API key they came from was revoked. */
  revoked: z.boolean().default(false),
});
type RunState = z.infer<typeof RunState>;

/** A task that was offered to an operator, with its open waits. */
interface OfferedTask {
  readonly durable: Durable;
  readonly config: OperatorConfig;
  /** Answered by the worker. */
  readonly result: Wait<PostedResult>;
  /** Answered by the operator. */
  readonly spawn: Wait<SpawnAnswer>;
  /** The question what to do about a silent worker; undefined until it is opened in this process. */
  leaseQuestion: Wait<Answer> | undefined;
}

/** The task's result. */
interface TaskEnd {
  readonly content: unknown;
}

const offerAgain = "offer it again";
const giveUp = "give up";

export function operatorRunner(leases: Leases): Runner {
  return async (durable, rawConfig) => {
    const config = readOperatorConfig(rawConfig);
    const input = TaskInput.safeParse(durable.input);
    if (input.success) durable.say("prompt", input.data.message);
    const restored = await durable.restore(RunState);
    const state: RunState = restored?.state ?? {
      turn: 1,
      acked: false,
      asked: null,
      patience: config.token_ms,
      revoked: false,
    };
    // An empty step: a pause or a limit that holds new work back takes effect here, before the task is offered.
    await durable.step("offer", { repeatable: true, schema: z.null() }, () => null);
    const task = await offerTask(durable, config);
    let content: unknown;
    try {
      content = await runToEnd(task, state, leases);
    } catch (thrown) {
      // Anything but a TuttiError only ends this attempt; the next one finds the remaining mail.
      if (thrown instanceof TuttiError) await keepRemainingMail(durable);
      throw thrown;
    }
    await keepRemainingMail(durable);
    return content;
  };
}

async function runToEnd(task: OfferedTask, from: RunState, leases: Leases): Promise<unknown> {
  for (let state = from; ;) {
    task.durable.save(`at.${state.turn}`, state);
    const next = await runTurn(task, state, leases);
    if ("content" in next) return next.content;
    state = next;
  }
}

/** Opens two waits, one for the worker's result and one for the operator's answer. Both end with the task. */
async function offerTask(durable: Durable, config: OperatorConfig): Promise<OfferedTask> {
  const { agent, attempt } = durable;
  const within = config.deadline_ms;
  const result = await durable.open(operatorKeys.result, {
    label: operatorLabel("result"),
    details: { kind: "result", agent, attempt },
    within,
    schema: PostedResult,
  });
  const spawn = await durable.open(operatorKeys.spawn, {
    label: operatorLabel("spawn"),
    details: {
      kind: "spawn",
      operator: config.operator,
      agent,
      attempt,
      token_ms: config.token_ms,
      lease_ms: config.lease_ms,
    },
    within,
    schema: SpawnAnswer,
  });
  return { durable, config, result, spawn, leaseQuestion: undefined };
}

async function runTurn(task: OfferedTask, state: RunState, leases: Leases): Promise<RunState | TaskEnd> {
  const { durable, config } = task;
  const { turn, acked } = state;
  const left =
    state.patience ??
    (await durable.step(`lease.${turn}`, { repeatable: true, looks: true, schema: z.number() }, () =>
      leases.leaseLeft(durable.task, durable.attempt, { acked }),
    ));
  if (left <= 0 && config.repeatable) {
    return (await lastResult(task)) ?? durable.again("again", { reason: silence(durable, state) });
  }
  if (left > 0 && state.asked !== null) {
    // The worker has reported again, so nobody needs to decide about it any more.
    await durable.withdraw(`heard.${turn}`, await askAboutLease(task, state, state.asked));
    task.leaseQuestion = undefined;
  }
  const asked = left > 0 ? null : (state.asked ?? turn);
  // Messages come first, so that what the worker posted before its result is taken before the result.
  const sources: Source[] = [{ message: true }, { wait: task.result }];
  sources.push(asked === null ? { after: left } : { wait: await askAboutLease(task, state, asked) });
  if (!acked) sources.push({ wait: task.spawn });
  const picked = await durable.select(`turn.${turn}`, sources);
  const next: RunState = { turn: turn + 1, acked, asked, patience: null, revoked: state.revoked };
  switch (picked.index) {
    case 0:
      if (picked.kind !== "message") return next;
      if (tellsRightsEnded(durable, picked.value)) return { ...next, patience: 0, revoked: true };
      await failIfReported(task, operatorFailureIn(durable, picked.value));
      await takeMail(durable, turn, picked.value);
      return picked.value.role === "assistant" ? { ...next, patience: config.lease_ms } : next;
    case 1:
      return takeResult(task, state, { picked, leases });
    case 2:
      return asked === null ? next : decideAboutLease(task, state, picked);
    default:
      return takeOperatorAnswer(task, next, { picked, leases });
  }
}

// ---- the lease

/** A silent worker may have done its work, so a task that is not repeatable is offered again only if a person agrees (invariant 1). */
async function askAboutLease(task: OfferedTask, state: RunState, since: number): Promise<Wait<Answer>> {
  const { durable } = task;
  task.leaseQuestion ??= await durable.open(`lapsed.${since}`, {
    ask: {
      kind: "question",
      question: `${silence(durable, state)}; it may have done the work or part of it. Offer the task to an operator again?`,
      details: { agent: durable.agent, attempt: durable.attempt },
      choices: [offerAgain, giveUp],
    },
    schema: Answer,
  });
  return task.leaseQuestion;
}

function silence({ agent }: Durable, { revoked }: RunState): string {
  if (revoked) return `the worker of ${agent} lost its rights, because the API key that they came from was revoked`;
  return `the worker of ${agent} has not reported, and its lease is over`;
}

async function decideAboutLease(task: OfferedTask, state: RunState, picked: Selected): Promise<TaskEnd> {
  const { durable } = task;
  const answered = picked.kind === "wait" && "value" in picked.value ? Answer.safeParse(picked.value.value) : undefined;
  const choice = answered?.data?.kind === "question" ? answered.data.value : giveUp;
  const late = await lastResult(task);
  if (late !== undefined) return late;
  if (choice === offerAgain) return durable.again("again", { reason: silence(durable, state) });
  throw new TuttiError(
    "outcome_unknown",
    `${silence(durable, state)}; check what it may have done before the task is tried again`,
  );
}

// ---- results

/** Accepts no more results. One that was recorded in the meantime counts, since its worker was told that it was accepted. */
async function lastResult(task: OfferedTask): Promise<TaskEnd | undefined> {
  const { durable, result } = task;
  await durable.withdraw("closed", result);
  const found = postedIn(await durable.select("last", [{ wait: result }]));
  if (found?.usage !== undefined) await settleWorkerUsage(durable, "used.result", found.usage);
  return found === undefined ? undefined : endWith(task, found);
}

interface PickedWith {
  readonly picked: Selected;
  readonly leases: Leases;
}

async function takeResult(task: OfferedTask, state: RunState, { picked, leases }: PickedWith): Promise<TaskEnd> {
  const { durable, config, spawn } = task;
  const { acked } = state;
  const found = postedIn(picked);
  if (found === undefined) return failAtDeadline(task, state, leases);
  if (found.usage !== undefined) await settleWorkerUsage(durable, "used.result", found.usage);
  if (found.ok && !acked && config.ack_ms > 0) {
    // The operator may know better than the worker it launched, so its answer is waited for.
    const first = await durable.select("word", [{ wait: spawn }, { after: config.ack_ms }]);
    const answer = first.kind === "wait" ? spawnAnswerIn(first) : undefined;
    const verdict = answer === undefined ? undefined : spawnVerdict(answer, { posted: true });
    if (verdict?.outcome === "failed") await fail(task, { value: found.value, ...verdict });
  }
  return endWith(task, found);
}

/** If a worker has the task, or the operator said that one will, the work may have been done (invariant 1). */
async function failAtDeadline(task: OfferedTask, { acked }: RunState, leases: Leases): Promise<never> {
  const { durable, config } = task;
  const looks = { repeatable: true, looks: true, schema: z.boolean() } as const;
  const isAtWork =
    acked || (await durable.step("worker", looks, () => leases.hasWorker(durable.task, durable.attempt)));
  const within = `within ${config.deadline_ms} ms`;
  if (!isAtWork) {
    throw new TuttiError("deadline", `no operator took ${durable.agent} up ${within}; is an operator connected?`);
  }
  const message = `the worker of ${durable.agent} did not post a result ${within}; check what it may have done before the task is tried again`;
  throw new TuttiError("deadline", message, { retry: "unknown" });
}

/** Records messages that the worker was told were accepted, however the task ends. Questions are no longer asked. */
async function keepRemainingMail(durable: Durable): Promise<void> {
  for (let count = 1; ; count += 1) {
    const message = await durable.receive(`rest.${count}`, { block: false });
    if (message === undefined) return;
    await keepMail(durable, `rest.${count}`, message);
  }
}

async function endWith({ durable }: OfferedTask, { ok, value }: PostedResult): Promise<TaskEnd> {
  if (ok) return { content: value };
  return endFailedWork(durable, { reason: typeof value === "string" ? value : JSON.stringify(value), value });
}

async function takeOperatorAnswer(
  task: OfferedTask,
  next: RunState,
  { picked, leases }: PickedWith,
): Promise<RunState | TaskEnd> {
  const answer = spawnAnswerIn(picked);
  if (answer === undefined) return (await lastResult(task)) ?? failAtDeadline(task, next, leases);
  await failIfReported(task, answer);
  const verdict = spawnVerdict(answer, { posted: false });
  if (verdict.outcome === "value") return (await lastResult(task)) ?? { content: verdict.value };
  return { ...next, acked: true };
}

async function failIfReported(task: OfferedTask, answer: SpawnAnswer | undefined): Promise<void> {
  const verdict = answer === undefined ? undefined : spawnVerdict(answer, { posted: false });
  if (verdict?.outcome === "failed") await fail(task, verdict);
}

/** An operator that could not have the work done is believed. That the work did not succeed is for the senior to judge. */
async function fail({ durable }: OfferedTask, work: FailedWork & { readonly error: boolean }): Promise<never> {
  if (work.error) throw workFailure(durable, work);
  return endFailedWork(durable, work);
}

/** Undefined when the wait expired or was withdrawn. A recorded value was checked when it was delivered, so parsing succeeds. */
function postedIn(picked: Selected): PostedResult | undefined {
  return picked.kind === "wait" && "value" in picked.value ? PostedResult.parse(picked.value.value) : undefined;
}

function spawnAnswerIn(picked: Selected): SpawnAnswer | undefined {
  return picked.kind === "wait" && "value" in picked.value ? SpawnAnswer.parse(picked.value.value) : undefined;
}
