// What a tool is: its name and parameters for the model, and how a call of it is carried out.

import { z } from "zod";

import type { Rights } from "../core/rights.ts";
import { issuesOf, type ReadIssue } from "../protocol/lenient-read.ts";
import type { Durable, ModelTool, StepContext } from "../ports.ts";

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

type Ready<C> =
  | { readonly ok: true; readonly run: (context: C) => unknown }
  | { readonly ok: false; readonly issues: readonly ReadIssue[] };

interface Common {
  readonly name: string;
  /** The tool as the model sees it. */
  readonly shown: ModelTool;
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
}

export function stepTool<I>(
  tool: Described<I> & {
    readonly repeatable: boolean;
    readonly run: (input: I, context: StepToolContext) => unknown;
  },
): StepTool {
  return {
    kind: "step",
    name: tool.name,
    shown: shownOf(tool),
    repeatable: tool.repeatable,
    prepare: (input) => ready(tool, input),
  };
}

export function durableTool<I>(
  tool: Described<I> & {
    readonly waits: boolean;
    readonly run: (input: I, context: DurableToolContext) => unknown;
  },
): DurableTool {
  return {
    kind: "durable",
    name: tool.name,
    shown: shownOf(tool),
    waits: tool.waits,
    prepare: (input) => ready(tool, input),
  };
}

function shownOf({ name, description, input }: Described<unknown>): ModelTool {
  return { name, description, parameters: parametersOf(input) };
}

export function parametersOf(input: z.ZodType): ModelTool["parameters"] {
  const { $schema: _, ...parameters } = z.toJSONSchema(input, { io: "input" });
  return parameters;
}

function ready<I, C>(
  tool: Described<I> & { readonly run: (input: I, context: C) => unknown },
  value: unknown,
): Ready<C> {
  const parsed = tool.input.safeParse(value);
  if (!parsed.success) return { ok: false, issues: issuesOf(parsed.error) };
  return { ok: true, run: (context) => tool.run(parsed.data, context) };
}
