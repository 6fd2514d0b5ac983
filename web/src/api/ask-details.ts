// What an ask says beside its question, read from the details that the service gives: they come from outside and may be anything.

import { z } from "zod";

import { anyWords, argvLine } from "../../../src/protocol/index.ts";

const Plan = z.object({
  tasks: z.array(
    z.object({
      planned: z.object({
        id: z.string(),
        prompt: z.string(),
        after: z.array(z.string()),
        workdir: z.string(),
        checks: z.array(z.unknown()),
      }),
      route: z.object({ runner: z.string(), model: z.string(), reason: z.string() }),
    }),
  ),
  criteria: z.array(z.object({ id: z.string(), text: z.string(), confirmed: z.boolean() })),
  dropped: z.array(z.object({ what: z.string(), reason: z.string() })).default([]),
  limits: z.object({ tokens: z.number(), money_micro_usd: z.number() }),
});
export type AskedPlan = z.infer<typeof Plan>;

const Details = z.looseObject({
  confined: z.boolean().optional(),
  effects: z.array(z.string()).optional(),
  reason: z.string().optional(),
  protected: z.array(z.string()).optional(),
  always: z.object({ tool: z.string(), argv: z.array(z.string()).optional() }).optional(),
  call: z.object({ tool_name: z.string() }).optional(),
});

export interface AskFacts {
  readonly notes: readonly string[];
  /** What "always" would allow; absent where a person must decide each time. */
  readonly always?: string;
  readonly plan?: AskedPlan;
}

export function askFacts(details: unknown): AskFacts {
  const plan = Plan.safeParse(details);
  if (plan.success) return { notes: [], plan: plan.data };
  const read = Details.safeParse(details);
  if (!read.success) return { notes: [] };
  const { confined, effects, reason, protected: files, always } = read.data;
  const notes = [
    ...(confined === undefined ? [] : [confined ? "confined to its folders" : "not confined"]),
    ...(effects ?? []).map((effect) => effect.replaceAll("_", " ")),
    ...(files ?? []).map((file) => `protected: ${file}`),
    ...(reason === undefined ? [] : [reason]),
  ];
  return {
    notes,
    ...(always === undefined
      ? {}
      : { always: always.argv === undefined ? always.tool : argvLine(always.argv, { placeholder: anyWords }) }),
  };
}
