// Recognizes what agents say when they cannot work: that a usage limit is reached, and that nobody is logged in.

export type Trouble = { readonly kind: "limit"; readonly until: number } | { readonly kind: "login" };

/** Leaves a conversation from inside of a prompt. */
export class LimitReached extends Error {
  readonly until: number;
  constructor(until: number) {
    super("the agent's usage limit is reached");
    this.until = until;
  }
}

/** Waited for when the agent does not say when its limit ends. */
const unknownReset = 60 * 60_000;
const longestReset = 8 * 24 * 60 * 60_000;

const limit =
  /^\W*(claude ai )?(usage limit reached|you.?ve (hit|reached) your (usage |session |weekly )?limit|rate limit reached|5-hour limit reached|quota exceeded)/i;
const login =
  /^\W*(not logged in|please (run|log in|sign in)\b|invalid api key|authentication (required|failed)|you must be logged in|oauth token has expired)/i;

/** `text`: an error of the agent, or the whole of a reply. A reply that merely mentions a limit does not begin with it. */
export function troubleIn(text: string, now: number): Trouble | undefined {
  const beginning = text.slice(0, 1_000);
  if (limit.test(beginning)) return { kind: "limit", until: Math.min(resetIn(beginning, now), now + longestReset) };
  return login.test(beginning) ? { kind: "login" } : undefined;
}

function resetIn(text: string, now: number): number {
  const epoch = /\|(\d{10})\b/.exec(text)?.[1];
  if (epoch !== undefined) return Math.max(now, Number(epoch) * 1_000);
  const spans = [...text.matchAll(/(\d{1,4})\s*(day|hour|hr|minute|min|second|sec)s?\b/gi)];
  if (/\b(in|after)\b/i.test(text) && spans.length > 0) {
    return now + spans.reduce((sum, [, count, unit]) => sum + Number(count) * unitMs(unit ?? ""), 0);
  }
  const [, hour, minute, half] = /resets?\s+(?:at\s+)?(\d{1,2})(?::(\d{2}))?\s*(am|pm)?/i.exec(text) ?? [];
  return hour === undefined ? now + unknownReset : nextTime(now, clockHour(Number(hour), half), Number(minute ?? 0));
}

function unitMs(unit: string): number {
  const first = unit.toLowerCase().slice(0, 1);
  if (first === "d") return 24 * 60 * 60_000;
  if (first === "h") return 60 * 60_000;
  return first === "m" ? 60_000 : 1_000;
}

function clockHour(hour: number, half: string | undefined): number {
  if (half === undefined) return hour % 24;
  return (hour % 12) + (half.toLowerCase() === "pm" ? 12 : 0);
}

/** The next moment at which the clocks here show this time. */
function nextTime(now: number, hour: number, minute: number): number {
  const date = new Date(now);
  date.setHours(hour, minute, 0, 0);
  return date.getTime() > now ? date.getTime() : date.getTime() + 24 * 60 * 60_000;
}
