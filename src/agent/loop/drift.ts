// Calls that ran although the model did not write them as it was told to: recorded by kind, and told to the model once.

import { z } from "zod";

import type { Durable } from "../../ports.ts";
import { type Violation, violationKinds } from "../../protocol/toolcalls/tool-call.ts";
import { losesCall } from "../../protocol/toolcalls/tool-feedback.ts";
import { renderToolCall } from "../../protocol/toolcalls/render-tool-call.ts";

const Drift = z.object({
  kind: z.enum(violationKinds),
  dialect: z.string().optional(),
  message: z.string(),
  count: z.int(),
});
export type Drift = z.infer<typeof Drift>;

/** One entry for each kind and dialect, so that a reply of many departures is a few events. */
export function driftsOf(violations: readonly Violation[]): Drift[] {
  const drifts = new Map<string, Drift>();
  for (const { kind, dialect, message } of violations) {
    const name = nameOf({ kind, dialect });
    const known = drifts.get(name);
    if (known === undefined)
      drifts.set(name, { kind, ...(dialect === undefined ? {} : { dialect }), message, count: 1 });
    else known.count += 1;
  }
  return [...drifts.values()];
}

/** What tells one kind of drift from another, in what the model was told. */
export function nameOf({ kind, dialect }: Pick<Drift, "kind" | "dialect">): string {
  return dialect === undefined ? kind : `${kind}.${dialect}`;
}

export async function recordDrifts(durable: Durable, turn: number, drifts: readonly Drift[]): Promise<void> {
  const options = { repeatable: true, schema: Drift, event: "call.drifted", looks: true } as const;
  for (const [index, drift] of drifts.entries()) {
    await durable.step(`drift:${turn}.${index}`, options, () => drift);
  }
}

/** Those that cost no call and that the model was not told of; what cost a call is in the feedback on the reply. */
export function untold(drifts: readonly Drift[], told: ReadonlySet<string>): Drift[] {
  return drifts.filter((drift) => !losesCall(drift.kind) && !told.has(nameOf(drift)));
}

export function driftNote(drifts: readonly Drift[]): string {
  const listed = drifts.map(({ message }) => `- ${message}`).join("\n");
  const example = renderToolCall("tool_name", { argument: "value" });
  return `The calls of your last reply were understood, but not written as they should be:\n${listed}\n\nDo not repeat them. Write the next calls in exactly this form:\n\n${example}`;
}
