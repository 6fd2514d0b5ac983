// Carries out the calls of one reply: checks and approves all of them first, then runs reads at once and changes in order.

import { z } from "zod";

import type { CallEffect } from "../../core/approval.ts";
import { messageId } from "../../core/message-id.ts";
import { TuttiError } from "../../protocol/error.ts";
import { describeIssues, issuesOf } from "../../protocol/lenient-read.ts";
import { type CompleteMessage, messageText, type ToolCall } from "../../protocol/task/message.ts";
import { named, single } from "../../protocol/invocation/invocation-builders.ts";
import type { Durable } from "../../ports.ts";
import type { AttendedTool } from "../../protocol/invocation/attended.ts";
import type { Caller } from "../delegation/invocation-caller.ts";
import { callGroup, type CallGroup } from "../delegation/call-group.ts";
import { runInvocation } from "../delegation/run-invocation.ts";
import { FinalInput, HandoverInput, loopTool } from "../tools/loop-tools.ts";
import type { StepTool } from "../tools/tool.ts";
import type { Toolbox } from "../tools/toolbox.ts";
import type { CallLook, Look } from "../tools/call-look.ts";
import { callAttended } from "./call-attended.ts";
import { type Approval, type ApprovalContext, approveCalls } from "./approve-calls.ts";
import type { OutputCheck } from "./output-schema.ts";
import { RecordedMessage } from "./plain-message.ts";
import { MessageOrUntold, settleHeld, type UntoldOutcome } from "./settle-held.ts";
import { describeBadArguments, failureMessage, toolFailure, toolMessage } from "./tool-result.ts";
import { withoutNulls } from "./without-nulls.ts";

/** One reply and what is needed to carry out its calls. */
export interface Turn {
  readonly durable: Durable;
  readonly number: number;
  readonly calls: readonly ToolCall[];
  /** The conversation up to and including the reply. */
  readonly history: readonly CompleteMessage[];
  readonly toolbox: Toolbox;
  readonly caller: Caller;
  /** Checks the task's result; undefined when any result will do. */
  readonly checkOutput: OutputCheck | undefined;
  /** The reply was cut at its length limit, so its last call may be incomplete. */
  readonly isCut: boolean;
  /** Part of the reply could not be read; the task must not end before the model knows that. */
  readonly hasProblem: boolean;
}

export interface TurnOutcome {
  /** One message per call, in the order of the calls. */
  readonly results: readonly CompleteMessage[];
  /** Set when the agent has called `final`. */
  readonly final?: { readonly content: unknown };
}

interface TurnCall {
  readonly call: ToolCall;
  /** The key its result is recorded under. */
  readonly key: string;
}

interface PreparedTurnCall extends TurnCall {
  /**
   * `read`: runs beside other reads, after the changes before it and before those after it. `change`: runs alone, in order.
   * `wait`: starts in order, and the calls after it do not wait for it. `last`: runs when all others are done.
   */
  readonly order: "read" | "change" | "wait" | "last";
  /** What needs approval; absent when the call does nothing a person could object to. */
  readonly effect?: CallEffect;
  /** What a person who is asked is told that the call may do, when the rules do not go by all of it. */
  readonly told?: CallEffect;
  /** How to find out what exactly the call would do. */
  readonly look?: Look | undefined;
  /** `look`: what was found out before the call was judged. */
  readonly run: (look?: CallLook) => Promise<CompleteMessage>;
  readonly final?: { readonly content: unknown };
}

/** Does not return when the task was handed over. */
export async function runTurn(turn: Turn): Promise<TurnOutcome> {
  const agentCalls: ToolCall[] = [];
  // Made when the first call of an agent runs: by then all calls are approved, so the group holds no denied one.
  let group: CallGroup | undefined;
  const { durable, caller, history } = turn;
  const options = { durable, caller, history, key: `spawn:${turn.number}` };
  const groupOfTurn = (): CallGroup => (group ??= callGroup(options, agentCalls));
  const prepared = turn.calls.map((call, index) =>
    prepare(turn, { call, key: `tool:${turn.number}.${index}` }, groupOfTurn),
  );
  const approval = approveCalls(durable, approvalContext(caller), prepared);
  const judged = approval === undefined ? undefined : await approval;
  const calls = judged === undefined ? prepared : prepared.map((call) => asJudged(turn, call, judged));
  for (const { call, order } of calls) {
    if (order === "wait" && call.tool_name === loopTool.invokeAgent) agentCalls.push(call);
  }
  const only = calls.length === 1 ? calls[0] : undefined;
  const results = only === undefined ? await runInOrder(calls) : [await only.run()];
  const final = calls.find((call) => call.final !== undefined)?.final;
  return final === undefined ? { results } : { results, final };
}

function approvalContext({ environment, file, agent }: Caller): ApprovalContext {
  const sources = [...environment.approvals];
  if (file.approvals !== undefined) sources.push({ from: "invocation", rules: file.approvals });
  const own = agent?.definition.approvals;
  if (own !== undefined) sources.push({ from: "agent", rules: own });
  return { sources, standing: environment.standing, offLimits: environment.offLimits };
}

async function runInOrder(calls: readonly PreparedTurnCall[]): Promise<CompleteMessage[]> {
  const results: CompleteMessage[] = [];
  const started: Promise<unknown>[] = [];
  let reads: Promise<unknown>[] = [];
  for (const [index, { order, run }] of calls.entries()) {
    if (order === "last") continue;
    if (order === "change") {
      await Promise.all(reads);
      reads = [];
    }
    const running = run().then((result) => (results[index] = result));
    // Awaited below; until then a failure must not count as unhandled.
    running.catch(() => undefined);
    started.push(running);
    if (order === "read") reads.push(running);
    if (order === "change") await running;
  }
  await Promise.all(started);
  for (const [index, { order, run }] of calls.entries()) if (order === "last") results[index] = await run();
  return results;
}

function asJudged(turn: Turn, call: PreparedTurnCall, { denied, looks }: Approval): PreparedTurnCall {
  const reason = denied.get(call.key);
  if (reason !== undefined) return refusal(turn, call, { code: "refused", message: `not allowed: ${reason}` });
  const look = looks.get(call.key);
  return look === undefined ? call : { ...call, run: () => call.run(look) };
}

/** A call that does not run: its result says why. */
function refusal(
  { durable }: Turn,
  { call, key }: TurnCall,
  why: { readonly code: string; readonly message: string },
): PreparedTurnCall {
  return { call, key, order: "change", run: async () => durable.say(key, toolFailure(call, why.code, why.message)) };
}

/** An agent that ends beside other calls has not seen their results, so it would report what it does not know. */
const finalAlone = "final must be the only call of a reply: look at the results of the other calls, then call it again";

/** The call itself changes nothing here. Whoever carries it out asks for approval of what they do. */
const noOwnEffect: CallEffect = { effects: [], confined: true };

function prepare(turn: Turn, turnCall: TurnCall, group: () => CallGroup): PreparedTurnCall {
  const { durable, toolbox } = turn;
  const { call, key } = turnCall;
  const refuse = (code: string, message: string): PreparedTurnCall => refusal(turn, turnCall, { code, message });
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
      return endTask(turn, turnCall);
    case "handover": {
      const input = HandoverInput.safeParse(call.input);
      if (!input.success) return refuse("invalid_input", describeBadArguments(call.input, issuesOf(input.error)));
      const body = (): Promise<never> => handOver(turn, key, input.data);
      return recordedCall(turn, turnCall, { order: "last", effect: noOwnEffect, body });
    }
    case "invoke_agent":
      return recordedCall(turn, turnCall, { order: "wait", effect: noOwnEffect, body: () => group().resultOf(call) });
    case "external":
      if (found.attended !== undefined) return prepareAttended(turn, turnCall, found.attended);
      return recordedCall(turn, turnCall, {
        order: "wait",
        effect: noOwnEffect,
        body: () => awaitClient(durable, key, call),
      });
    case "durable": {
      const prepared = found.tool.prepare(call.input);
      if (!prepared.ok) return refuse("invalid_input", describeBadArguments(call.input, prepared.issues));
      return recordedCall(turn, turnCall, {
        order: found.tool.waits ? "wait" : "change",
        effect: prepared.effect,
        body: () => prepared.run({ durable, key }),
      });
    }
    case "step": {
      const prepared = found.tool.prepare(call.input);
      if (!prepared.ok) return refuse("invalid_input", describeBadArguments(call.input, prepared.issues));
      return {
        call,
        key,
        order: prepared.effect.effects.every((effect) => effect === "read") ? "read" : "change",
        effect: prepared.effect,
        look: prepared.look,
        run: (look) => runStepTool(turn, turnCall, { tool: found.tool, run: prepared.run, look }),
      };
    }
  }
}

/** Judged by the rules for the tool alone: the code runs at the program's, where rules about this machine mean nothing. */
function prepareAttended(turn: Turn, turnCall: TurnCall, attended: AttendedTool): PreparedTurnCall {
  const { durable, caller } = turn;
  const { attendants } = caller.environment;
  const { effects } = attended;
  return {
    ...turnCall,
    order: effects.every((effect) => effect === "read") ? "read" : "change",
    effect: noOwnEffect,
    told: { effects, confined: false },
    async run() {
      const { call, key } = turnCall;
      try {
        return await callAttended(durable, attendants, { ...turnCall, attended });
      } catch (thrown) {
        return recordFailure(turn, { call, key: `${key}.told` }, thrown);
      }
    },
  };
}

/** The outcome of the body is recorded as the call's result, a failure too. */
function recordedCall(
  turn: Turn,
  { call, key }: TurnCall,
  { order, effect, body }: Required<Pick<PreparedTurnCall, "order" | "effect">> & { readonly body: () => unknown },
): PreparedTurnCall {
  return {
    call,
    key,
    order,
    effect,
    async run() {
      try {
        return turn.durable.say(key, toolMessage(call, await body()));
      } catch (thrown) {
        return recordFailure(turn, { call, key }, thrown);
      }
    },
  };
}

function endTask(turn: Turn, turnCall: TurnCall): PreparedTurnCall {
  const { call, key } = turnCall;
  const refuse = (code: string, message: string): PreparedTurnCall => refusal(turn, turnCall, { code, message });
  const input = FinalInput.safeParse(call.input);
  if (!input.success) return refuse("invalid_input", describeBadArguments(call.input, issuesOf(input.error)));
  if (turn.hasProblem) {
    return refuse("refused", "the task has not ended, since part of this reply could not be read; see below");
  }
  const content = input.data.content ?? null;
  const issues = turn.checkOutput?.(content) ?? [];
  if (issues.length > 0)
    return refuse("invalid_input", `the result does not fit the task's schema: ${describeIssues(issues)}`);
  return {
    call,
    key,
    order: "change",
    run: async () => turn.durable.say(key, toolMessage(call, "The task ends with this.")),
    final: { content },
  };
}

type PreparedStep = {
  readonly tool: StepTool;
  readonly run: Extract<ReturnType<StepTool["prepare"]>, { ok: true }>["run"];
  readonly look: CallLook | undefined;
};

/** The step's outcome is the message itself, so that its content is stored once, unless a person has to be asked first. */
async function runStepTool(
  turn: Turn,
  { call, key }: TurnCall,
  { tool, run, look }: PreparedStep,
): Promise<CompleteMessage> {
  const { durable } = turn;
  const id = messageId(durable, key);
  const { held } = tool;
  let ran: CompleteMessage | UntoldOutcome;
  try {
    ran = await durable.step<CompleteMessage | UntoldOutcome>(
      key,
      {
        repeatable: tool.repeatable,
        schema: held === undefined ? RecordedMessage : MessageOrUntold,
        owned: true,
        input: [call.tool_name, call.input],
        event:
          held === undefined ? "message.added" : (outcome) => ("untold" in outcome ? "step.finished" : "message.added"),
      },
      (step) => {
        const message = (outcome: unknown): CompleteMessage | UntoldOutcome => {
          if (held?.isIn(outcome) === true) return { untold: outcome };
          const { name, role, parts } = toolMessage(call, outcome);
          return { id, name, role, parts, created_at: step.now() };
        };
        const { rights, root: tree } = durable;
        const outcome = run({ step, rights, tree, offLimits: turn.caller.environment.offLimits, look });
        return isThenable(outcome) ? Promise.resolve(outcome).then(message) : message(outcome);
      },
    );
  } catch (thrown) {
    if (held === undefined || durable.signal.aborted) return recordFailure(turn, { call, key: `${key}.told` }, thrown);
    const settled = await settleHeld(durable, approvalContext(turn.caller), { call, key, held });
    const told = durable.signal.aborted ? undefined : failureMessage(call, thrown, settled);
    if (told === undefined) throw thrown;
    return durable.say(`${key}.told`, told);
  }
  if (!("untold" in ran) || held === undefined) return RecordedMessage.parse(ran);
  const settled = await settleHeld(durable, approvalContext(turn.caller), { call, key, held });
  return durable.say(`${key}.told`, toolMessage(call, { ...Object(ran.untold), ...settled }));
}

/** The outcome of a synchronous tool is used at once, without awaiting it. */
function isThenable(outcome: unknown): boolean {
  return typeof outcome === "object" && outcome !== null && "then" in outcome;
}

function recordFailure({ durable }: Turn, { call, key }: TurnCall, thrown: unknown): CompleteMessage {
  const message = durable.signal.aborted ? undefined : failureMessage(call, thrown);
  if (message === undefined) throw thrown;
  return durable.say(key, message);
}

/** The client reads the call from the wait and delivers its result to the wait's id. */
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
  const lastPrompt = history.findLast((message) => message.role === "user");
  const fallback = lastPrompt === undefined ? "" : messageText(lastPrompt);
  const prompt = [input.prompt ?? "", fallback, "Continue the task."].find((text) => text.trim() !== "") ?? "";
  const invocation = single(named(input.agent, prompt), { context: "shared" });
  const reason = withoutNulls({ reason: input.reason });
  await runInvocation(durable, `${key}.handover`, invocation, { caller, history, ...reason });
  throw new TuttiError("internal", "a handover came back");
}
