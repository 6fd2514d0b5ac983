// The `invoke_agent` calls of one turn: all are spawned in one commit, each is waited for by itself.

import type { InvocationResult } from "../../protocol/invocation/invocation-result.ts";
import { type InvokeAgentInput, readInvokeAgent, toInvocation } from "../../protocol/invocation/invoke-agent.ts";
import type { TaskId } from "../../protocol/ids.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { CompleteMessage, ToolCall } from "../../protocol/task/message.ts";
import type { Durable, NewTask } from "../../ports.ts";
import { describeBadArguments } from "../loop/tool-result.ts";
import type { Caller } from "./invocation-caller.ts";
import { baseAgent, findAgent } from "./find-agent.ts";
import { type Plan, planFailure, planInvocation } from "./plan.ts";
import { sharedHistory } from "./run-invocation.ts";

export interface CallGroup {
  /** The first call to ask spawns all of them. Throws the error the model is told. */
  resultOf(call: ToolCall): Promise<InvocationResult>;
}

export interface CallGroupOptions {
  readonly durable: Durable;
  /** The key the spawn is recorded under. */
  readonly key: string;
  readonly caller: Caller;
  /** The caller's conversation, for agents that inherit it. */
  readonly history: readonly CompleteMessage[];
}

type PlannedCall =
  | { readonly ok: true; readonly child: NewTask; readonly background: boolean }
  | { readonly ok: false; readonly error: TuttiError };

/** A call that cannot be planned does not stop the others; the planned ones are spawned together or not at all. */
export function callGroup({ durable, key, caller, history }: CallGroupOptions, calls: readonly ToolCall[]): CallGroup {
  const plans = new Map(calls.map((call) => [call, planCall(caller, call)]));
  const children = [...plans.values()].flatMap((plan) => (plan.ok ? [plan.child] : []));
  let spawned: Promise<TaskId[]> | undefined;
  const spawn = (): Promise<TaskId[]> => {
    const inherited = children.some((child) => isInherited(child));
    return durable.spawn(key, children, inherited ? sharedHistory(history) : undefined);
  };
  return {
    async resultOf(call) {
      const plan = plans.get(call);
      if (plan === undefined) throw new TuttiError("internal", `${call.tool_call_id} is not a call of this turn`);
      if (!plan.ok) throw plan.error;
      spawned ??= spawn();
      const id = (await spawned)[children.indexOf(plan.child)];
      if (id === undefined) throw new TuttiError("internal", `${call.tool_call_id} was not spawned`);
      if (plan.background) return { kind: "task_ids", task_ids: [id] };
      const [result] = await durable.join([id]);
      if (result === undefined) throw new TuttiError("internal", `${id} has no result`);
      return { kind: "scalar", result };
    },
  };
}

function planCall(caller: Caller, call: ToolCall): PlannedCall {
  const reading = readInvokeAgent(call.input);
  if (!reading.ok) {
    return { ok: false, error: new TuttiError("invalid_input", describeBadArguments(call.input, reading.issues)) };
  }
  const { input } = reading;
  const plan = planInvocation(caller, toInvocation(input, { defaultAgent: baseAgent, ...contextOf(caller, input) }));
  return plannedCall(plan, input);
}

function plannedCall(plan: Plan, input: InvokeAgentInput): PlannedCall {
  if (!plan.ok) return { ok: false, error: planFailure(plan) };
  const [child] = plan.children;
  if (child === undefined) return { ok: false, error: new TuttiError("internal", "a plan without a child") };
  return { ok: true, child, background: input.mode === "background" };
}

/** What the called agent sees of the conversation is set in its definition; the calling model cannot choose it. */
function contextOf({ file }: Caller, { agent }: InvokeAgentInput): { readonly context?: "independent" | "inherited" } {
  if (agent === undefined || agent === null) return {};
  const context = findAgent(file, { type: "named", agent_id: agent })?.definition.context;
  return context === undefined ? {} : { context };
}

function isInherited({ input }: NewTask): boolean {
  return typeof input === "object" && input !== null && "context" in input && input.context === "inherited";
}
