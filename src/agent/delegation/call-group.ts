// The `invoke_agent` calls of one turn: spawned in one go, waited for one by one.

import type { InvocationResult } from "../../protocol/invocation/invocation-result.ts";
import { type InvokeAgentInput, readInvokeAgent, toInvocation } from "../../protocol/invocation/invoke-agent.ts";
import type { TaskId } from "../../protocol/ids.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { CompleteMessage, ToolCall } from "../../protocol/task/message.ts";
import type { Durable, NewTask } from "../../ports.ts";
import { baseAgent, findAgent } from "./find-agent.ts";
import { planError, sharedHistory } from "./run-invocation.ts";
import type { OutputCheck } from "../loop/output-schema.ts";
import { type Caller, type Plan, planInvocation } from "./plan.ts";
import type { Toolbox } from "../tools/toolbox.ts";
import { wrongArguments } from "../loop/tool-result.ts";

/** One reply and what is needed to carry out its calls. */
export interface Turn {
  readonly durable: Durable;
  readonly number: number;
  readonly calls: readonly ToolCall[];
  /** The conversation up to and including the reply. */
  readonly history: readonly CompleteMessage[];
  readonly toolbox: Toolbox;
  readonly caller: Caller;
  /** What a result must fit; undefined when any will do. */
  readonly checkOutput: OutputCheck | undefined;
  /** The reply was cut at its length, so its last call may be half of one. */
  readonly isCut: boolean;
  /** Something of the reply could not be read; the task must not end before the model knows. */
  readonly hasTrouble: boolean;
}

export interface CallGroup {
  /** The first one to ask spawns all of them. Throws what the model is to be told. */
  resultOf(call: ToolCall): Promise<InvocationResult>;
}

type Planned =
  | { readonly ok: true; readonly child: NewTask; readonly background: boolean }
  | { readonly ok: false; readonly error: TuttiError };

/** A call that cannot be made does not stop the others; the spawn itself is all or none. */
export function callGroup(turn: Turn, calls: readonly ToolCall[]): CallGroup {
  const { durable, caller } = turn;
  const planned = new Map(calls.map((call) => [call, planCall(caller, call)]));
  const children = [...planned.values()].flatMap((plan) => (plan.ok ? [plan.child] : []));
  let spawned: Promise<TaskId[]> | undefined;
  const spawn = (): Promise<TaskId[]> => {
    const inherited = children.some((child) => isInherited(child));
    return durable.spawn(`spawn:${turn.number}`, children, inherited ? sharedHistory(turn.history) : undefined);
  };
  return {
    async resultOf(call) {
      const plan = planned.get(call);
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

function planCall(caller: Caller, call: ToolCall): Planned {
  const reading = readInvokeAgent(call.input);
  if (!reading.ok) {
    return { ok: false, error: new TuttiError("invalid_input", wrongArguments(call.input, reading.issues)) };
  }
  const { input } = reading;
  const plan = planInvocation(caller, toInvocation(input, { defaultAgent: baseAgent, ...contextOf(caller, input) }));
  return firstOf(plan, input);
}

function firstOf(plan: Plan, input: InvokeAgentInput): Planned {
  if (!plan.ok) return { ok: false, error: planError(plan) };
  const [child] = plan.children;
  if (child === undefined) return { ok: false, error: new TuttiError("internal", "a plan without a child") };
  return { ok: true, child, background: input.mode === "background" };
}

/** What the called agent sees is its own definition's to say, not the model's. */
function contextOf({ file }: Caller, { agent }: InvokeAgentInput): { readonly context?: "independent" | "inherited" } {
  if (agent === undefined || agent === null) return {};
  const context = findAgent(file, { type: "named", agent_id: agent })?.definition.context;
  return context === undefined ? {} : { context };
}

function isInherited({ input }: NewTask): boolean {
  return typeof input === "object" && input !== null && "context" in input && input.context === "inherited";
}
