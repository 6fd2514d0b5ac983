// What all work of a state may use in one day, and what of it is taken: decided over one record that every process reads and changes whole.

import { z } from "zod";

import { accountKinds, type AccountKind, amountIn } from "./account.ts";
import type { Usage } from "../protocol/task/budget.ts";

/** Days are counted in UTC, so that all machines of a state mean the same one, and no day has more hours than another. */
const dayMs = 86_400_000;

export const dayOf = (now: number): number => Math.floor(now / dayMs);
export const startOfDay = (day: number): number => day * dayMs;

export type Amounts = Readonly<Record<AccountKind, number>>;

/** The user's own caps. One that is absent holds nobody back. */
export type DayLimits = { readonly [K in AccountKind]?: number | undefined };

const Amounts = z.object({ tokens: z.number(), money_micro_usd: z.number() });

/** What one process has set apart for its calls. `used`: how much of it was used when it last took more. */
const Taker = z.object({ node: z.string(), taken: Amounts, used: Amounts });

export const DayLedger = z.object({
  day: z.number(),
  /** Used by processes that are over, and before anybody counted. */
  spent: Amounts,
  /** Taken by processes that ended under their calls: how much of it was used is not known, so all of it counts. */
  carried: Amounts,
  takers: z.record(z.string(), Taker),
  /** By how much a person raised the caps, for this day. */
  raised: Amounts,
  /** What a person decided about the rest of the day. */
  decision: z.enum(["wait", "stop"]).optional(),
  /** Whoever asks the person, or is about to; `ask` once the question is there. */
  claim: z.object({ by: z.string(), process: z.string(), at: z.number(), ask: z.string().optional() }).optional(),
});
export type DayLedger = z.infer<typeof DayLedger>;

export const nothing: Amounts = { tokens: 0, money_micro_usd: 0 };

export const newDay = (day: number): DayLedger => ({
  day,
  spent: nothing,
  carried: nothing,
  takers: {},
  raised: nothing,
});

export function each(make: (kind: AccountKind) => number): Amounts {
  return { tokens: make("tokens"), money_micro_usd: make("money_micro_usd") };
}

export const amountsOf = (usage: Usage): Amounts => each((kind) => amountIn(usage, kind));

/** All that counts against the cap. */
function totalOf(ledger: DayLedger): Amounts {
  const takers = Object.values(ledger.takers);
  return each(
    (kind) => ledger.spent[kind] + ledger.carried[kind] + takers.reduce((sum, { taken }) => sum + taken[kind], 0),
  );
}

export interface Process {
  readonly id: string;
  /** The process before this one with the same node is over. */
  readonly node: string;
}

/**
 * A process begins with a day. Those of its node that came before are over. `recorded`: what the records say was used since the
 * day began, without what this process is about to take; it tells of calls that nobody counted because there was no cap.
 */
export function joinDay(ledger: DayLedger, { id, node }: Process, recorded: Amounts): DayLedger {
  const isOver = (key: string): boolean => key !== id && ledger.takers[key]?.node === node;
  const pick = (wanted: (key: string) => boolean): DayLedger["takers"] =>
    Object.fromEntries(Object.entries(ledger.takers).filter(([key]) => wanted(key)));
  const over = Object.values(pick(isOver));
  const others = pick((key) => key !== id && !isOver(key));
  const isAlone = Object.keys(others).length === 0;
  const takers = pick((key) => !isOver(key));
  const before = totalOf({ ...ledger, takers: pick((key) => key !== id) });
  const theirs = totalOf({ ...newDay(ledger.day), takers: others });
  const spent = each((kind) => {
    const known = ledger.spent[kind] + over.reduce((sum, { used }) => sum + used[kind], 0);
    return isAlone ? Math.max(known, recorded[kind]) : known + Math.max(0, recorded[kind] - before[kind]);
  });
  const carried = each((kind) => Math.max(0, Math.max(before[kind], recorded[kind]) - theirs[kind] - spent[kind]));
  return { ...ledger, takers, spent, carried };
}

/** A cap that is in the way. */
export interface DayReached {
  readonly kind: AccountKind;
  /** With what a person raised it by. */
  readonly limit: number;
  readonly spent: number;
  readonly reserved: number;
  /** What the call may use. */
  readonly wanted: number;
  /** How much more it needs than there is. */
  readonly missing: number;
}

/** Taken at once, so that not every call has to change the record. */
const parts = 50;

export interface Need {
  /** Under way in this process. */
  readonly held: Amounts;
  readonly used: Amounts;
  /** About to begin. */
  readonly wanted: Amounts;
}

type Taken = { readonly ledger: DayLedger } | { readonly reached: DayReached };

/** Takes what the process needs and lacks, of all kinds or of none. */
export function takeFor(ledger: DayLedger, { id, node }: Process, limits: DayLimits, need: Need): Taken {
  const before = ledger.takers[id]?.taken ?? nothing;
  const total = totalOf(ledger);
  const taken: Record<AccountKind, number> = { ...before };
  for (const kind of accountKinds) {
    const limit = limits[kind];
    if (limit === undefined) continue;
    const lacking = need.used[kind] + need.held[kind] + need.wanted[kind] - before[kind];
    if (lacking <= 0) continue;
    const free = limit + ledger.raised[kind] - total[kind];
    if (lacking > free) return { reached: reachedIn(ledger, { id, limit, kind, missing: lacking - free, need }) };
    taken[kind] += Math.max(lacking, Math.min(Math.floor(limit / parts), free));
  }
  return { ledger: { ...ledger, takers: { ...ledger.takers, [id]: { node, taken, used: need.used } } } };
}

interface Lack {
  readonly id: string;
  readonly kind: AccountKind;
  readonly limit: number;
  readonly missing: number;
  readonly need: Need;
}

function reachedIn(ledger: DayLedger, { id, kind, limit, missing, need }: Lack): DayReached {
  const { spent, reserved } = usedIn(ledger, id, need);
  const wanted = need.wanted[kind];
  return { kind, limit: limit + ledger.raised[kind], spent: spent[kind], reserved: reserved[kind], wanted, missing };
}

/** What was used so far, as far as this process knows, and what is set apart for calls. */
export function usedIn(
  ledger: DayLedger,
  id: string,
  own: Pick<Need, "held" | "used">,
): { spent: Amounts; reserved: Amounts } {
  const others = Object.entries(ledger.takers).flatMap(([key, taker]) => (key === id ? [] : [taker]));
  const sum = (of: (taker: z.infer<typeof Taker>) => number): number =>
    others.reduce((all, taker) => all + of(taker), 0);
  return {
    spent: each((kind) => ledger.spent[kind] + own.used[kind] + sum(({ used }) => used[kind])),
    reserved: each(
      (kind) => ledger.carried[kind] + own.held[kind] + sum(({ taken, used }) => Math.max(0, taken[kind] - used[kind])),
    ),
  };
}

/** The process ends with its calls: what they still hold counts, the rest is free again. */
export function leaveDay(ledger: DayLedger, { id }: Process, { held, used }: Omit<Need, "wanted">): DayLedger {
  const { [id]: own, ...takers } = ledger.takers;
  if (own === undefined) return ledger;
  return {
    ...ledger,
    takers,
    spent: each((kind) => ledger.spent[kind] + Math.min(used[kind], own.taken[kind])),
    carried: each((kind) => {
      const rest = own.taken[kind] - Math.min(used[kind], own.taken[kind]);
      return ledger.carried[kind] + Math.min(rest, held[kind]);
    }),
  };
}

/** Whether the call would fit if nothing of this process were under way: then it need only wait for that. */
export function fitsAlone(ledger: DayLedger, id: string, limits: DayLimits, need: Omit<Need, "held">): boolean {
  const total = totalOf(ledger);
  const own = ledger.takers[id]?.taken ?? nothing;
  return accountKinds.every((kind) => {
    const limit = limits[kind];
    if (limit === undefined || need.used[kind] + need.wanted[kind] <= own[kind]) return true;
    return total[kind] - own[kind] + need.used[kind] + need.wanted[kind] <= limit + ledger.raised[kind];
  });
}

/** Two records of one state become one. Of another day, the later one counts. */
export function mergeDays(into: DayLedger, from: DayLedger): DayLedger {
  if (into.day !== from.day) return into.day > from.day ? into : from;
  return {
    ...into,
    spent: each((kind) => into.spent[kind] + from.spent[kind]),
    carried: each((kind) => into.carried[kind] + from.carried[kind]),
    takers: { ...from.takers, ...into.takers },
    raised: each((kind) => Math.max(into.raised[kind], from.raised[kind])),
  };
}
