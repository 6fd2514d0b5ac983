// What a tool is: its declaration for the model, and how a call of it is prepared and carried out.

import { z } from "zod";

import type { CallEffect } from "../../core/approval.ts";
import type { Rights } from "../../core/rights.ts";
import type { Effect } from "../../protocol/invocation/approval-policy.ts";
import type { CallLook, Look } from "./call-look.ts";
import type { HeldFiles } from "./held-look.ts";
import { issuesOf, type ReadIssue } from "../../protocol/lenient-read.ts";
import type { Durable, RunningStep, StepContext } from "../../ports.ts";
import type { ModelTool } from "../../model-port.ts";

/** Given to the body of a step tool. The step's `key` is an idempotency key for whatever the tool calls. */
export interface StepToolContext {
  /** With `during`, a tool can ask a person while it runs. */
  readonly step: StepContext & Partial<Pick<RunningStep, "during">>;
  readonly rights: Rights;
  /** The task at the top of the tree in which the call is made: what is started for the call can be ended with it. */
  readonly tree?: string | undefined;
  /** Folders that the call must not touch, whatever the rights are. */
  readonly offLimits: readonly string[];
  /** What was looked up before the call was judged and, when a person was asked, what the person saw. */
  readonly look?: CallLook | undefined;
}

/** Given to a durable tool: the port itself, and the prefix of the keys the tool may use. */
export interface DurableToolContext {
  readonly durable: Durable;
  readonly key: string;
}

/** A call whose arguments were checked. `effect` says what it may do, to be approved before any call of the turn runs. */
export type PreparedCall<C> =
  | { readonly ok: true; readonly effect: CallEffect; readonly look?: Look; readonly run: (context: C) => unknown }
  | { readonly ok: false; readonly issues: readonly ReadIssue[] };

interface BaseTool {
  readonly name: string;
  /** The tool as the model sees it. */
  readonly declaration: ModelTool;
  /** All effects that calls of the tool may have; a single call may have fewer. */
  readonly effects: readonly Effect[];
  /** The MCP server that the tool is of. `onlyNamed`: only agents that name the server have it. */
  readonly server?: { readonly name: string; readonly onlyNamed: boolean };
}

/** A tool whose call is one step: it runs once and its outcome is recorded. */
export interface StepTool extends BaseTool {
  readonly kind: "step";
  readonly repeatable: boolean;
  /** Protected files that calls of the tool can leave behind, and about which a person is asked after the call. */
  readonly held?: HeldFiles | undefined;
  prepare(input: unknown): PreparedCall<StepToolContext>;
}

/** A tool made of durable operations. When it `waits`, the calls after it in the same turn do not wait for it. */
export interface DurableTool extends BaseTool {
  readonly kind: "durable";
  readonly waits: boolean;
  prepare(input: unknown): PreparedCall<DurableToolContext>;
}

export type Tool = StepTool | DurableTool;

interface ToolDescription<I> {
  readonly name: string;
  readonly description: string;
  /** A function where the tool is loaded with the loop: making schemas is most of what loading would cost. */
  readonly input: z.ZodType<I> | (() => z.ZodType<I>);
  /** All effects the tool may have. When absent it is `read`, or `write` for a step tool that is not repeatable. */
  readonly effects?: readonly Effect[];
  /** The effect of one call, where the arguments decide; when absent, all effects of the tool, within the task's folders. */
  readonly effectOf?: (input: I) => CallEffect;
  /** How to find out what one call would do, for the person who is asked about it. */
  readonly lookOf?: (input: I) => Look;
}

export function stepTool<I>(
  tool: ToolDescription<I> & {
    readonly repeatable: boolean;
    readonly held?: HeldFiles | undefined;
    readonly run: (input: I, context: StepToolContext) => unknown;
  },
): StepTool {
  const effects = tool.effects ?? [tool.repeatable ? "read" : "write"];
  // Made when a model is to see it: turning a schema into JSON Schema is most of what importing a tool would cost.
  let declaration: ModelTool | undefined;
  const prepare = preparer(tool, effects);
  return {
    kind: "step",
    name: tool.name,
    get declaration() {
      return (declaration ??= declare(tool));
    },
    effects,
    repeatable: tool.repeatable,
    held: tool.held,
    prepare,
  };
}

export function durableTool<I>(
  tool: ToolDescription<I> & {
    readonly waits: boolean;
    readonly run: (input: I, context: DurableToolContext) => unknown;
  },
): DurableTool {
  const effects = tool.effects ?? ["read"];
  let declaration: ModelTool | undefined;
  const prepare = preparer(tool, effects);
  return {
    kind: "durable",
    name: tool.name,
    get declaration() {
      return (declaration ??= declare(tool));
    },
    effects,
    waits: tool.waits,
    prepare,
  };
}

function declare<I>({ name, description, input }: ToolDescription<I>): ModelTool {
  return { name, description, parameters: parametersOf(schemaOf(input)) };
}

function schemaOf<I>(input: ToolDescription<I>["input"]): z.ZodType<I> {
  return typeof input === "function" ? input() : input;
}

export function parametersOf(input: z.ZodType): ModelTool["parameters"] {
  const { $schema: _, ...parameters } = z.toJSONSchema(input, { io: "input" });
  return parameters;
}

function preparer<I, C>(
  tool: ToolDescription<I> & { readonly run: (input: I, context: C) => unknown },
  effects: readonly Effect[],
): (value: unknown) => PreparedCall<C> {
  let schema: z.ZodType<I> | undefined;
  return (value) => {
    const parsed = (schema ??= schemaOf(tool.input)).safeParse(value);
    if (!parsed.success) return { ok: false, issues: issuesOf(parsed.error) };
    const effect = tool.effectOf?.(parsed.data) ?? { effects, confined: true };
    const look = tool.lookOf?.(parsed.data);
    const run = (context: C): unknown => tool.run(parsed.data, context);
    return look === undefined ? { ok: true, effect, run } : { ok: true, effect, look, run };
  };
}
