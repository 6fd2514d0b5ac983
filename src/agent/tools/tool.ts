// What a tool is: its name and parameters for the model, and how a call of it is carried out.

import { z } from "zod";

import type { CallEffect } from "../../core/approval.ts";
import type { Rights } from "../../core/rights.ts";
import type { Effect } from "../../protocol/invocation/approval-policy.ts";
import { issuesOf, type ReadIssue } from "../../protocol/lenient-read.ts";
import type { Durable, ModelTool, StepContext } from "../../ports.ts";

/** What the body of a step tool is given. The step's `key` is an idempotency key for whatever it calls. */
export interface StepToolContext {
  readonly step: StepContext;
  readonly rights: Rights;
}

/** What a durable tool is given: the port itself, and a prefix for the keys it uses. */
export interface DurableToolContext {
  readonly durable: Durable;
  readonly key: string;
}

/** `effect` is what this call may bring about; to be judged before anything of its turn runs. */
export type Ready<C> =
  | { readonly ok: true; readonly effect: CallEffect; readonly run: (context: C) => unknown }
  | { readonly ok: false; readonly issues: readonly ReadIssue[] };

interface Common {
  readonly name: string;
  /** The tool as the model sees it. */
  readonly shown: ModelTool;
  /** All that a call of it can bring about; one call may bring about less. */
  readonly effects: readonly Effect[];
}

/** Carried out in one step of its own: run once, its outcome recorded. */
export interface StepTool extends Common {
  readonly kind: "step";
  readonly repeatable: boolean;
  prepare(input: unknown): Ready<StepToolContext>;
}

/** Made of durable operations; `waits`: the calls after it in the same turn do not wait for it. */
export interface DurableTool extends Common {
  readonly kind: "durable";
  readonly waits: boolean;
  prepare(input: unknown): Ready<DurableToolContext>;
}

export type Tool = StepTool | DurableTool;

interface Described<I> {
  readonly name: string;
  readonly description: string;
  readonly input: z.ZodType<I>;
  /** The most it can bring about; absent, one that may be repeated reads and any other writes. */
  readonly effects?: readonly Effect[];
  /** Of one call, where its arguments decide; absent, it has all effects of the tool and stays within the task's folders. */
  readonly effectOf?: (input: I) => CallEffect;
}

export function stepTool<I>(
  tool: Described<I> & {
    readonly repeatable: boolean;
    readonly run: (input: I, context: StepToolContext) => unknown;
  },
): StepTool {
  const effects = tool.effects ?? [tool.repeatable ? "read" : "write"];
  // Made when a model is to see it: turning a schema into JSON Schema is most of what importing a tool would cost.
  let shown: ModelTool | undefined;
  return {
    kind: "step",
    name: tool.name,
    get shown() {
      return (shown ??= shownOf(tool));
    },
    effects,
    repeatable: tool.repeatable,
    prepare: (input) => ready(tool, effects, input),
  };
}

export function durableTool<I>(
  tool: Described<I> & {
    readonly waits: boolean;
    readonly run: (input: I, context: DurableToolContext) => unknown;
  },
): DurableTool {
  const effects = tool.effects ?? ["read"];
  let shown: ModelTool | undefined;
  return {
    kind: "durable",
    name: tool.name,
    get shown() {
      return (shown ??= shownOf(tool));
    },
    effects,
    waits: tool.waits,
    prepare: (input) => ready(tool, effects, input),
  };
}

function shownOf<I>({ name, description, input }: Described<I>): ModelTool {
  return { name, description, parameters: parametersOf(input) };
}

export function parametersOf(input: z.ZodType): ModelTool["parameters"] {
  const { $schema: _, ...parameters } = z.toJSONSchema(input, { io: "input" });
  return parameters;
}

function ready<I, C>(
  tool: Described<I> & { readonly run: (input: I, context: C) => unknown },
  effects: readonly Effect[],
  value: unknown,
): Ready<C> {
  const parsed = tool.input.safeParse(value);
  if (!parsed.success) return { ok: false, issues: issuesOf(parsed.error) };
  const effect = tool.effectOf?.(parsed.data) ?? { effects, confined: true };
  return { ok: true, effect, run: (context) => tool.run(parsed.data, context) };
}
