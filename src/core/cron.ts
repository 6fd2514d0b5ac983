// Times that a cron expression names: reads the five fields, and finds the next time on a wall clock with summer time.

import { TuttiError } from "../protocol/error.ts";

/** Sorted lists of what matches. */
export interface Cron {
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  readonly days: ReadonlySet<number>;
  readonly months: ReadonlySet<number>;
  /** 0 is Sunday. */
  readonly weekdays: ReadonlySet<number>;
  /** Both days and weekdays are limited: a day then matches when one of them does. */
  readonly eitherDay: boolean;
}

/** How far the wall clock is ahead of UTC at an instant, in milliseconds. */
export type Offset = (instant: number) => number;

interface Field {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  readonly names?: readonly string[];
}

const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const weekdays = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const fields: readonly [Field, Field, Field, Field, Field] = [
  { name: "minute", from: 0, to: 59 },
  { name: "hour", from: 0, to: 23 },
  { name: "day of the month", from: 1, to: 31 },
  { name: "month", from: 1, to: 12, names: months },
  // 7 is Sunday, too.
  { name: "day of the week", from: 0, to: 7, names: weekdays },
];

const short: Readonly<Record<string, string>> = {
  "@hourly": "0 * * * *",
  "@daily": "0 0 * * *",
  "@weekly": "0 0 * * 0",
  "@monthly": "0 0 1 * *",
  "@yearly": "0 0 1 1 *",
};

const minuteMs = 60_000;
const dayMs = 86_400_000;
/** From one 29 February to the next it can be eight years. */
const longestSearchDays = 9 * 366;
const longestText = 500;

/** Throws `invalid_input`, and says which field is wrong; also for a date that never comes, such as 30 February. */
export function parseCron(text: string): Cron {
  const trimmed = text.trim().toLowerCase();
  const written = Object.hasOwn(short, trimmed) ? (short[trimmed] ?? "") : trimmed;
  const parts = written.split(/\s+/);
  if (written.length > longestText || parts.length !== fields.length) {
    throw wrong(
      text,
      'it needs five fields: minute, hour, day of the month, month, day of the week, as in "0 9 * * mon-fri"',
    );
  }
  const [minute, hour, day, month, weekday] = fields.map((field, at) => readField(field, parts[at] ?? "", text));
  const cron: Cron = {
    minutes: sorted(minute),
    hours: sorted(hour),
    days: new Set(day),
    months: new Set(month),
    weekdays: new Set([...(weekday ?? [])].map((each) => each % 7)),
    eitherDay: !parts[2]?.startsWith("*") && !parts[4]?.startsWith("*"),
  };
  if (nextWallMinute(cron, 0) === undefined) throw wrong(text, "there is no such date");
  return cron;
}

function sorted(numbers: ReadonlySet<number> = new Set()): number[] {
  return [...numbers].toSorted((a, b) => a - b);
}

function readField(field: Field, written: string, text: string): Set<number> {
  const found = new Set<number>();
  for (const item of written.split(",")) {
    const [, range = "", step] = /^([^/]+)(?:\/(\d{1,4}))?$/.exec(item) ?? [];
    const [, first, last] = /^([a-z]{3}|\d{1,4})(?:-([a-z]{3}|\d{1,4}))?$/.exec(range) ?? [];
    if (range !== "*" && first === undefined) throw wrongField(field, item, text);
    const from = first === undefined ? field.from : valueOf(field, first, text);
    // `5/10` begins at 5 and goes on to the end, as `5-59/10` does.
    const end = step === undefined ? from : field.to;
    const to = range === "*" ? field.to : last === undefined ? end : valueOf(field, last, text);
    const by = Number(step ?? 1);
    if (by === 0 || to < from) throw wrongField(field, item, text);
    for (let value = from; value <= to; value += by) found.add(value);
  }
  return found;
}

function valueOf(field: Field, written: string, text: string): number {
  const named = field.names?.indexOf(written) ?? -1;
  const value = named === -1 ? Number(written) : named + (field.from === 1 ? 1 : 0);
  if (!(value >= field.from && value <= field.to)) throw wrongField(field, written, text);
  return value;
}

function wrongField({ name, from, to, names }: Field, item: string, text: string): TuttiError {
  const words = names === undefined ? "" : ` or ${names[0]} to ${names.at(-1)}`;
  return wrong(text, `"${item}" is no ${name}; write ${from} to ${to}${words}, a range 1-5, a step */2, or a list 1,3`);
}

function wrong(text: string, why: string): TuttiError {
  return new TuttiError(
    "invalid_input",
    `the schedule ${JSON.stringify(text.slice(0, longestText))} cannot be used: ${why}`,
  );
}

/**
 * The first time after the instant. A time that the clock skips when summer time begins comes at the moment after the gap,
 * once for all that were skipped. A time that the clock shows twice when summer time ends comes the first time only.
 */
export function nextTime(cron: Cron, after: number, offset: Offset): number {
  // An earlier minute of the wall clock has been shown already, or was skipped before now.
  let wall = Math.floor((after + offset(after)) / minuteMs);
  for (;;) {
    const next = nextWallMinute(cron, wall + 1);
    if (next === undefined) throw new TuttiError("internal", "a schedule has no next time");
    const instant = firstInstant(next * minuteMs, offset);
    if (instant > after) return instant;
    wall = next;
  }
}

/** The times after `after` up to `until`, the newest at most `keep` of them, and how many there are. */
export function timesBetween(
  cron: Cron,
  { after, until, keep }: { readonly after: number; readonly until: number; readonly keep: number },
  offset: Offset,
): { readonly count: number; readonly newest: readonly number[] } {
  const newest: number[] = [];
  let count = 0;
  for (let at = nextTime(cron, after, offset); at <= until; at = nextTime(cron, at, offset)) {
    count += 1;
    newest.push(at);
    if (newest.length > keep) newest.shift();
  }
  return { count, newest };
}

/** Minutes since 1970 as the wall clock shows them; the first that matches from `from` on. */
function nextWallMinute(cron: Cron, from: number): number | undefined {
  const firstDay = Math.floor((from * minuteMs) / dayMs);
  for (let day = firstDay; day <= firstDay + longestSearchDays; day += 1) {
    if (!matchesDay(cron, day)) continue;
    const start = (day * dayMs) / minuteMs;
    for (const hour of cron.hours) {
      if (start + hour * 60 + 59 < from) continue;
      const minute = cron.minutes.find((each) => start + hour * 60 + each >= from);
      if (minute !== undefined) return start + hour * 60 + minute;
    }
  }
  return undefined;
}

function matchesDay({ days, months: inMonths, weekdays: onDays, eitherDay }: Cron, day: number): boolean {
  const date = new Date(day * dayMs);
  if (!inMonths.has(date.getUTCMonth() + 1)) return false;
  const [byDate, byWeekday] = [days.has(date.getUTCDate()), onDays.has(date.getUTCDay())];
  return eitherDay ? byDate || byWeekday : byDate && byWeekday;
}

/** Further than any clock is ahead of UTC or behind it. */
const widestMs = 26 * 3_600_000;

/** The first instant at which the clock shows this time; the end of the gap when the clock skips it. */
function firstInstant(wall: number, offset: Offset): number {
  let [before, after] = [wall - widestMs, wall + widestMs];
  const [old, later] = [offset(before), offset(after)];
  if (offset(wall - old) === old) return wall - old;
  if (offset(wall - later) === later) return wall - later;
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (offset(middle) === old) before = middle;
    else after = middle;
  }
  return after;
}
