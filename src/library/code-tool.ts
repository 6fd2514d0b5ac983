// A tool that is written in the program itself: plain data and a function whose input has the type of its schema.

import type { StandardSchema, UserToolContext } from "../agent/tools/define-tool.ts";
import type { Effect } from "../protocol/invocation/approval-policy.ts";

/** `free`: calls run at once. `ask`: a person is asked about each call. `refuse`: no call runs. */
export type ToolApproval = "free" | "ask" | "refuse";

export interface ToolOptions<Name extends string, Input, Output> {
  /** The name by which models call it, and by which it is found again after a restart. */
  readonly name: Name;
  readonly description: string;
  /** A schema of zod or of any other library that follows Standard Schema. */
  readonly input: StandardSchema<Input>;
  /** The JSON Schema of the input, for a library that cannot write it. */
  readonly parameters?: Readonly<Record<string, unknown>> | undefined;
  /** Everything that a call may do: rules about approvals go by it. */
  readonly effects: readonly Effect[];
  /** Whether it may run again after it was interrupted. When absent it may not: the model is told that the outcome is unknown. */
  readonly repeatable?: boolean | undefined;
  /** A minute when absent. */
  readonly timeoutMs?: number | undefined;
  /** When absent, the rules that `openTutti` was given decide, and without any the call runs at once. */
  readonly approval?: ToolApproval | undefined;
  /** The model is given what this returns, as text or as JSON, or the message of what it throws. */
  run(input: NoInfer<Input>, context: UserToolContext): Output | Promise<Output>;
}

/** A tool as `tool` returns it. `Input` is what the schema reads, `Output` what `run` returns. */
export interface CodeTool<Name extends string = string, Input = unknown, Output = unknown> {
  readonly kind: "tool";
  readonly name: Name;
  readonly description: string;
  readonly input: StandardSchema<Input>;
  readonly parameters: Readonly<Record<string, unknown>> | undefined;
  readonly effects: readonly Effect[];
  readonly repeatable: boolean;
  readonly timeoutMs: number | undefined;
  readonly approval: ToolApproval | undefined;
  run(input: Input, context: UserToolContext): Output | Promise<Output>;
}

/** Declares a tool. Its mistakes are told when `openTutti` gets it, with those of all others. */
export function tool<const Name extends string, Input, Output>(
  options: ToolOptions<Name, Input, Output>,
): CodeTool<Name, Input, Output> {
  const { name, description, input, parameters, effects, repeatable = false, timeoutMs, approval } = options;
  return {
    kind: "tool",
    name,
    description,
    input,
    parameters,
    effects,
    repeatable,
    timeoutMs,
    approval,
    run: (given, context) => options.run(given, context),
  };
}
