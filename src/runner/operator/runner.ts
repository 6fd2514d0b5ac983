// The runner `operator`: offers the task to an operator, and waits for what the worker it launches hands in.

import { z } from "zod";

import { TaskInput } from "../../agent/delegation/task-input.ts";
import { Answer } from "../../protocol/task/ask.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { TaskId } from "../../protocol/ids.ts";
import { operatorKeys, operatorLabel, PostedResult, SpawnAnswer } from "../../protocol/operator/operator-request.ts";
import { leaseAfterProgress } from "../../protocol/operator/lease.ts";
import { spawnVerdict } from "../../protocol/operator/spawn-verdict.ts";
import { defaultTokenLife } from "../../protocol/operator/capability-token.ts";
import type { Durable, Runner, Selected, Source, Wait } from "../../ports.ts";
import { type OperatorConfig, readOperatorConfig } from "./config.ts";
import { isQuestion, takeMail } from "./take-mail.ts";

export interface Leases {
  /** Milliseconds the worker of this attempt may still be silent; not above zero when it has been for too long. */
  leaseLeft(task: TaskId, attempt: number, offer: { readonly acked: boolean }): number | Promise<number>;
}

const OfferState = z.object({
  turn: z.int(),
  /** The operator has had its say. */
  acked: z.boolean(),
  /** The turn in which a person was asked about the silence; null while nobody has to be. */
  asked: z.int().nullable(),
  /** How long the worker may be silent from now on; null when that has to be looked up. */
  patience: z.number().nullable(),
});
type OfferState = z.infer<typeof OfferState>;

interface Offer {
  readonly durable: Durable;
  readonly config: OperatorConfig;
  readonly result: Wait<PostedResult>;
  readonly spawn: Wait<SpawnAnswer>;
  /** The question what to do about a silent worker, once this process has come to it. */
  lapsed: Wait<Answer> | undefined;
}

/** What the task ends with. */
interface End {
  readonly content: unknown;
}

const again = "offer it again";
const giveUp = "give up";

export function operatorRunner(leases: Leases): Runner {
  return async (durable, rawConfig) => {
    const config = readOperatorConfig(rawConfig);
    const input = TaskInput.safeParse(durable.input);
    if (input.success) durable.say("prompt", input.data.message);
    const restored = await durable.restore(OfferState);
    const state: OfferState = restored?.state ?? { turn: 1, acked: false, asked: null, patience: defaultTokenLife };
    // New work begins here: what holds that back, a pause or a limit, is passed before anybody is offered it.
    await durable.step("offer", { repeatable: true, schema: z.null() }, () => null);
    const offer = await openOffer(durable, config);
    let content: unknown;
    try {
      content = await toTheEnd(offer, state, leases);
    } catch (thrown) {
      // Anything else leaves for the next attempt, which finds the mail.
      if (thrown instanceof TuttiError) await takeRest(durable);
      throw thrown;
    }
    await takeRest(durable);
    return content;
  };
}

async function toTheEnd(offer: Offer, from: OfferState, leases: Leases): Promise<unknown> {
  for (let state = from; ;) {
    offer.durable.save(`at.${state.turn}`, state);
    const next = await takeTurn(offer, state, leases);
    if ("content" in next) return next.content;
    state = next;
  }
}

/** Two waits: one for the worker's result, one for the operator's word. Both end when the offer does. */
async function openOffer(durable: Durable, config: OperatorConfig): Promise<Offer> {
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
    details: { kind: "spawn", operator: config.operator, agent, attempt },
    within,
    schema: SpawnAnswer,
  });
  return { durable, config, result, spawn, lapsed: undefined };
}

async function takeTurn(offer: Offer, state: OfferState, leases: Leases): Promise<OfferState | End> {
  const { durable, config } = offer;
  const { turn, acked } = state;
  const left =
    state.patience ??
    (await durable.step(`lease.${turn}`, { repeatable: true, looks: true, schema: z.number() }, () =>
      leases.leaseLeft(durable.task, durable.attempt, { acked }),
    ));
  if (left <= 0 && config.repeatable) {
    return (await lastResult(offer)) ?? durable.again("again", { reason: silence(durable) });
  }
  if (left > 0 && state.asked !== null) {
    // It was heard of again.
    await durable.withdraw(`heard.${turn}`, await question(offer, state.asked));
    offer.lapsed = undefined;
  }
  const asked = left > 0 ? null : (state.asked ?? turn);
  // What was posted before the result is heard before it.
  const sources: Source[] = [{ message: true }, { wait: offer.result }];
  sources.push(asked === null ? { after: left } : { wait: await question(offer, asked) });
  if (!acked) sources.push({ wait: offer.spawn });
  const picked = await durable.select(`turn.${turn}`, sources);
  const next: OfferState = { turn: turn + 1, acked, asked, patience: null };
  switch (picked.index) {
    case 0:
      if (picked.kind !== "message") return next;
      await takeMail(durable, turn, picked.value);
      return picked.value.role === "assistant" ? { ...next, patience: leaseAfterProgress } : next;
    case 1:
      return posted(offer, state, picked);
    case 2:
      return asked === null ? next : decided(offer, picked);
    default:
      return acknowledged(offer, next, picked);
  }
}

// ---- the lease

/** What became of a silent worker is unknown, and a task that may not be repeated is not offered again unasked (invariant 1). */
async function question(offer: Offer, since: number): Promise<Wait<Answer>> {
  const { durable } = offer;
  offer.lapsed ??= await durable.open(`lapsed.${since}`, {
    ask: {
      kind: "question",
      question: `${silence(durable)}; it may have done the work or part of it. Offer the task to an operator again?`,
      details: { agent: durable.agent, attempt: durable.attempt },
      choices: [again, giveUp],
    },
    schema: Answer,
  });
  return offer.lapsed;
}

function silence({ agent }: Durable): string {
  return `the worker of ${agent} has not been heard of, and its lease is over`;
}

async function decided(offer: Offer, picked: Selected): Promise<End> {
  const { durable } = offer;
  const answered = picked.kind === "wait" && "value" in picked.value ? Answer.safeParse(picked.value.value) : undefined;
  const choice = answered?.data?.kind === "question" ? answered.data.value : giveUp;
  const late = await lastResult(offer);
  if (late !== undefined) return late;
  if (choice === again) return durable.again("again", { reason: silence(durable) });
  throw new TuttiError(
    "outcome_unknown",
    `${silence(durable)}; look at what it may have done before it is tried again`,
  );
}

// ---- results

/** Closes the attempt to results; one that was recorded in the meantime counts, since its worker was told so. */
async function lastResult(offer: Offer): Promise<End | undefined> {
  const { durable, result } = offer;
  await durable.withdraw("closed", result);
  const found = postedIn(await durable.select("last", [{ wait: result }]));
  return found === undefined ? undefined : passed(offer, found);
}

async function posted(offer: Offer, { acked }: OfferState, picked: Selected): Promise<End> {
  const { durable, config, spawn } = offer;
  const found = postedIn(picked);
  if (found === undefined) {
    const message = `no operator's worker finished ${durable.agent} within ${config.deadline_ms} ms; is an operator connected?`;
    throw new TuttiError("deadline", message);
  }
  if (found.ok && !acked && config.ack_ms > 0) {
    // The operator may know better than the worker it launched.
    const word = await durable.select("word", [{ wait: spawn }, { after: config.ack_ms }]);
    const said = word.kind === "wait" ? ackIn(word) : undefined;
    const verdict = said === undefined ? undefined : spawnVerdict(said, { posted: true });
    if (verdict?.outcome === "failed") throw failed(offer, verdict.reason);
  }
  return passed(offer, found);
}

/** What the worker was told is taken is kept, however the task ends; questions are not asked any more. */
async function takeRest(durable: Durable): Promise<void> {
  for (let rest = 1; ; rest += 1) {
    const message = await durable.receive(`rest.${rest}`, { block: false });
    if (message === undefined) return;
    if (!isQuestion(message)) durable.say(`rest.said.${rest}`, message);
  }
}

function passed(offer: Offer, { ok, value }: PostedResult): End {
  if (ok) return { content: value };
  throw failed(offer, typeof value === "string" ? value : JSON.stringify(value), { value });
}

async function acknowledged(offer: Offer, next: OfferState, picked: Selected): Promise<OfferState | End> {
  const said = ackIn(picked);
  const verdict = said === undefined ? undefined : spawnVerdict(said, { posted: false });
  if (verdict?.outcome === "failed") throw failed(offer, verdict.reason);
  if (verdict?.outcome === "value") return (await lastResult(offer)) ?? { content: verdict.value };
  return { ...next, acked: true };
}

function failed({ durable }: Offer, reason: string, details?: Readonly<Record<string, unknown>>): TuttiError {
  const said = reason.replaceAll(/\s+/g, " ").trim().slice(0, 2000);
  const message = `${durable.agent} failed: ${said === "" ? "no reason was given" : said}`;
  return new TuttiError("task_failed", message, details === undefined ? {} : { details });
}

/** Undefined when it expired or was withdrawn. What is recorded went through the schema when it was delivered. */
function postedIn(picked: Selected): PostedResult | undefined {
  return picked.kind === "wait" && "value" in picked.value ? PostedResult.parse(picked.value.value) : undefined;
}

function ackIn(picked: Selected): SpawnAnswer | undefined {
  return picked.kind === "wait" && "value" in picked.value ? SpawnAnswer.parse(picked.value.value) : undefined;
}
