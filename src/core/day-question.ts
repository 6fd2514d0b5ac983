// The question that a person reads when a cap of the day is used up, the answers there are, and what each of them does.

import { z } from "zod";

import { type DayLedger, type DayReached, each, type Amounts } from "./day-ledger.ts";

/** Marks the waits of work that a cap of the day holds back, the question among them. */
export const dayCapLabel = "waits for the cap of the day";

const DayChoice = z.object({
  said: z.string(),
  does: z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("raise"), by: z.object({ tokens: z.number(), money_micro_usd: z.number() }) }),
    z.object({ kind: z.enum(["wait", "stop"]) }),
  ]),
});
export type DayChoice = z.infer<typeof DayChoice>;

const DayCapDetails = z.object({
  day_cap: z.object({
    kind: z.enum(["tokens", "money_micro_usd"]),
    limit: z.number(),
    spent: z.number(),
    reserved: z.number(),
    choices: z.array(DayChoice),
  }),
});
type DayCapDetails = z.infer<typeof DayCapDetails>;

export interface DayQuestion {
  readonly question: string;
  readonly choices: readonly string[];
  readonly details: DayCapDetails;
}

/** `base` is the cap as the config has it: a raise is as much again, or a fifth of it. */
export function dayQuestion({ kind, limit, spent, reserved, wanted, missing }: DayReached, base: number): DayQuestion {
  const raises = [...new Set([Math.max(base, missing), Math.max(Math.ceil(base / 5), missing)])];
  const choices: DayChoice[] = [
    ...raises.map((by) => ({
      said: `raise it by ${amountText(kind, by)} for today`,
      does: { kind: "raise" as const, by: only(kind, by) },
    })),
    { said: "wait until 00:00 UTC", does: { kind: "wait" } },
    { said: "stop what waits", does: { kind: "stop" } },
  ];
  const question =
    `Today's cap of ${amountText(kind, limit)} over all work is used up: ${amountText(kind, spent)} spent, ` +
    `${amountText(kind, reserved)} reserved, and the next call may use ${amountText(kind, wanted)}. New calls of models wait. ` +
    "Raise it for today, wait until 00:00 UTC, or stop what waits?";
  const details = { day_cap: { kind, limit, spent, reserved, choices } };
  return { question, choices: choices.map(({ said }) => said), details };
}

function only(kind: DayReached["kind"], by: number): Amounts {
  return each((one) => (one === kind ? by : 0));
}

/** What the answer to a question with these details means. */
export function choiceOf(details: unknown, answer: unknown): DayChoice | undefined {
  const asked = DayCapDetails.safeParse(details).data?.day_cap;
  return asked?.choices.find(({ said }) => said === answer);
}

/** For whoever lets programs answer questions: this one is about money, and a person's. */
export const isDayQuestion = (details: unknown): boolean => DayCapDetails.safeParse(details).success;

/** The record after the person has decided; as it was when nobody did. */
export function choiceIn(ledger: DayLedger, choice: DayChoice | undefined): DayLedger {
  if (choice === undefined) return ledger;
  const { does } = choice;
  if (does.kind !== "raise") return { ...ledger, decision: does.kind };
  return { ...ledger, raised: each((kind) => ledger.raised[kind] + does.by[kind]) };
}

export function amountText(kind: DayReached["kind"], value: number): string {
  if (kind === "tokens") return `${value.toLocaleString("en-US")} tokens`;
  return `$${(value / 1_000_000).toFixed(value % 10_000 === 0 ? 2 : 4)}`;
}
