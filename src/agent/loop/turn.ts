// Carries out the calls of one reply: first all are checked and approved, then reads run at once and the rest in order.

import { z } from "zod";

import type { CallEffect } from "../../core/approval.ts";
import { messageId } from "../../core/message-id.ts";
import { TuttiError } from "../../protocol/error.ts";
import { issuesOf } from "../../protocol/lenient-read.ts";
import { type CompleteMessage, messageText, type ToolCall } from "../../protocol/task/message.ts";
import { named, single } from "../../protocol/invocation/invocation-builders.ts";
import type { Durable } from "../../ports.ts";
import { approveCalls } from "./approve-calls.ts";
import { callGroup, type CallGroup, type Turn } from "../delegation/call-group.ts";
import { withoutNulls } from "./without-nulls.ts";
import { invoke } from "../delegation/run-invocation.ts";
import { RecordedMessage } from "./plain-message.ts";
import type { StepTool } from "../tools/tool.ts";
import { FinalInput, HandoverInput } from "../tools/toolbox.ts";
import { toldFailure, toolFailure, toolMessage, wrongArguments, wrongText } from "./tool-result.ts";

export interface TurnOutcome {
  /** One per call, in their order. */
  readonly results: readonly CompleteMessage[];
  /** Set when the agent has called `final`. */
  readonly final?: { readonly content: unknown };
}

/**
 * A call on its way. `reads`: runs beside other reads, after the changes before it and before those after it. `waits`: the
 * calls after it do not wait for it. `last`: it comes when all others are done.
 */
interface Work {
  readonly when: "reads" | "in order" | "waits" | "last";
  /** Undefined where nothing is done that a person could mind. */
  readonly effect?: CallEffect;
  readonly run: () => Promise<CompleteMessage>;
  readonly final?: { readonly content: unknown };
  /** Set where it is a call of an agent, which are spawned together. */
  readonly agent?: ToolCall;
}

interface PendingCall {
  readonly call: ToolCall;
  readonly key: string;
}

/** Does not return when the task was handed over. */
export async function runTurn(turn: Turn): Promise<TurnOutcome> {
  const places = turn.calls.map((call, index): PendingCall => ({ call, key: `tool:${turn.number}.${index}` }));
  const agents: ToolCall[] = [];
  // Made when the first call of an agent runs, so that none that was denied is among them.
  let group: CallGroup | undefined;
  const prepared = places.map((pending) => prepare(turn, pending, () => (group ??= callGroup(turn, agents))));
  const asking = approveCalls(turn, places, prepared);
  const denied = asking === undefined ? undefined : await asking;
  const works =
    denied === undefined
      ? prepared
      : prepared.map((work, index) => unlessDenied(turn, places[index], { work, denied }));
  for (const { agent } of works) if (agent !== undefined) agents.push(agent);
  const only = works.length === 1 ? works[0] : undefined;
  const results = only === undefined ? await carryOut(works) : [await only.run()];
  const final = works.find((work) => work.final !== undefined)?.final;
  return final === undefined ? { results } : { results, final };
}

async function carryOut(works: readonly Work[]): Promise<CompleteMessage[]> {
  const results: CompleteMessage[] = [];
  const started: Promise<unknown>[] = [];
  let reads: Promise<unknown>[] = [];
  for (const [index, work] of works.entries()) {
    if (work.when === "last") continue;
    if (work.when === "in order") {
      await Promise.all(reads);
      reads = [];
    }
    const running = work.run().then((result) => (results[index] = result));
    // Awaited below; until then a failure must not count as unhandled.
    running.catch(() => undefined);
    started.push(running);
    if (work.when === "reads") reads.push(running);
    if (work.when === "in order") await running;
  }
  await Promise.all(started);
  for (const [index, work] of works.entries()) if (work.when === "last") results[index] = await work.run();
  return results;
}

function unlessDenied(
  turn: Turn,
  pending: PendingCall | undefined,
  { work, denied }: { readonly work: Work; readonly denied: ReadonlyMap<string, string> },
): Work {
  const reason = pending === undefined ? undefined : denied.get(pending.key);
  if (pending === undefined || reason === undefined) return work;
  return refusal(turn, pending, { code: "refused", message: `not allowed: ${reason}` });
}

function refusal(
  { durable }: Turn,
  { call, key }: PendingCall,
  why: { readonly code: string; readonly message: string },
): Work {
  return { when: "in order", run: async () => durable.say(key, toolFailure(call, why.code, why.message)) };
}

/** An agent that ends beside other calls has not seen what came of them, and would claim what it does not know. */
const finalAlone = "final must be the only call of a reply: look at what the other calls brought, then call it again";

/** Judged by their names alone: what they bring about is somebody else's, who is asked in turn. */
const elsewhere: CallEffect = { effects: [], confined: true };

function prepare(turn: Turn, pending: PendingCall, group: () => CallGroup): Work {
  const { durable, toolbox } = turn;
  const { call, key } = pending;
  const refuse = (code: string, message: string): Work => refusal(turn, pending, { code, message });
  if (turn.isCut && call === turn.calls.at(-1)) {
    return refuse("invalid_input", "the reply was cut at its length limit in or after this call, so it did not run");
  }
  const found = toolbox.find(call.tool_name);
  switch (found.kind) {
    case "unknown":
      return refuse("not_found", found.message);
    case "refused":
      return refuse("refused", found.message);
    case "final":
      if (turn.calls.length > 1) return refuse("refused", finalAlone);
      return endsTask(turn, pending);
    case "handover": {
      const input = HandoverInput.safeParse(call.input);
      if (!input.success) return refuse("invalid_input", wrongArguments(call.input, issuesOf(input.error)));
      return guarded(turn, pending, { when: "last", effect: elsewhere, body: () => handOver(turn, key, input.data) });
    }
    case "invoke_agent":
      return {
        ...guarded(turn, pending, { when: "waits", effect: elsewhere, body: () => group().resultOf(call) }),
        agent: call,
      };
    case "external":
      return guarded(turn, pending, {
        when: "waits",
        effect: elsewhere,
        body: () => awaitClient(durable, key, call),
      });
    case "durable": {
      const ready = found.tool.prepare(call.input);
      if (!ready.ok) return refuse("invalid_input", wrongArguments(call.input, ready.issues));
      return guarded(turn, pending, {
        when: found.tool.waits ? "waits" : "in order",
        effect: ready.effect,
        body: () => ready.run({ durable, key }),
      });
    }
    case "step": {
      const ready = found.tool.prepare(call.input);
      if (!ready.ok) return refuse("invalid_input", wrongArguments(call.input, ready.issues));
      return {
        when: ready.effect.effects.every((effect) => effect === "read") ? "reads" : "in order",
        effect: ready.effect,
        run: () => runStepTool(turn, pending, { tool: found.tool, run: ready.run }),
      };
    }
  }
}

/** What its body comes to is said to the model, a failure too. */
function guarded(
  turn: Turn,
  pending: PendingCall,
  { when, effect, body }: Required<Pick<Work, "when" | "effect">> & { readonly body: () => unknown },
): Work {
  return {
    when,
    effect,
    async run() {
      try {
        return turn.durable.say(pending.key, toolMessage(pending.call, await body()));
      } catch (thrown) {
        return tellFailure(turn, pending, thrown);
      }
    },
  };
}

function endsTask(turn: Turn, pending: PendingCall): Work {
  const { call, key } = pending;
  const refuse = (code: string, message: string): Work => refusal(turn, pending, { code, message });
  const input = FinalInput.safeParse(call.input);
  if (!input.success) return refuse("invalid_input", wrongArguments(call.input, issuesOf(input.error)));
  if (turn.hasTrouble) {
    return refuse("refused", "the task has not ended, since something of this reply could not be read; see below");
  }
  const content = input.data.content ?? null;
  const issues = turn.checkOutput?.(content) ?? [];
  if (issues.length > 0)
    return refuse("invalid_input", `the result does not fit the task's schema: ${wrongText(issues)}`);
  return {
    when: "in order",
    run: async () => turn.durable.say(key, toolMessage(call, "The task ends with this.")),
    final: { content },
  };
}

type ReadyStep = {
  readonly tool: StepTool;
  readonly run: Extract<ReturnType<StepTool["prepare"]>, { ok: true }>["run"];
};

/** The step's outcome is the message itself, so that its content stands once. */
async function runStepTool(turn: Turn, pending: PendingCall, { tool, run }: ReadyStep): Promise<CompleteMessage> {
  const { durable } = turn;
  const { call, key } = pending;
  const id = messageId(durable, key);
  try {
    return await durable.step(
      key,
      {
        repeatable: tool.repeatable,
        schema: RecordedMessage,
        input: [call.tool_name, call.input],
        event: "message.added",
      },
      (step) => {
        const message = (outcome: unknown): CompleteMessage => {
          const { name, role, parts } = toolMessage(call, outcome);
          return { id, name, role, parts, created_at: step.now() };
        };
        const outcome = run({ step, rights: durable.rights });
        return isThenable(outcome) ? Promise.resolve(outcome).then(message) : message(outcome);
      },
    );
  } catch (thrown) {
    return tellFailure(turn, { call, key: `${key}.told` }, thrown);
  }
}

/** A tool that answers at once is not waited for. */
function isThenable(outcome: unknown): boolean {
  return typeof outcome === "object" && outcome !== null && "then" in outcome;
}

function tellFailure({ durable }: Turn, { call, key }: PendingCall, thrown: unknown): CompleteMessage {
  const told = durable.signal.aborted ? undefined : toldFailure(call, thrown);
  if (told === undefined) throw thrown;
  return durable.say(key, told);
}

/** The client finds the call in the wait and delivers its result to the wait's id. */
async function awaitClient(durable: Durable, key: string, call: ToolCall): Promise<unknown> {
  const waited = await durable.wait(`${key}.result`, {
    label: `the result of the external tool ${call.tool_name}`,
    details: { external_tool: call },
    schema: z.unknown(),
  });
  if ("expired" in waited) throw new TuttiError("expired", `nobody gave a result of ${call.tool_name} in time`);
  return waited.value;
}

async function handOver(turn: Turn, key: string, input: z.infer<typeof HandoverInput>): Promise<never> {
  const { durable, caller, history } = turn;
  const allowed = caller.agent?.definition.handover ?? [];
  if (!allowed.includes(input.agent)) {
    throw new TuttiError("refused", `you may not hand over to ${input.agent}, only to: ${allowed.join(", ")}`);
  }
  const said = history.findLast((message) => message.role === "user");
  const fallback = said === undefined ? "" : messageText(said);
  const prompt = [input.prompt ?? "", fallback, "Continue the task."].find((text) => text.trim() !== "") ?? "";
  const invocation = single(named(input.agent, prompt), { context: "shared" });
  await invoke(durable, `${key}.handover`, invocation, { caller, history, ...withoutNulls({ reason: input.reason }) });
  throw new TuttiError("internal", "a handover came back");
}
