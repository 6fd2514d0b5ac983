// Shows that the tour goes on while nothing new can be told: on a terminal in lines that are redrawn, elsewhere by a line now and then.
import { cut } from "../terminal/fit.ts";
import { standardOutput } from "../terminal/screen.ts";
import { dim } from "../terminal/style.ts";

const redrawMs = 500;
/** After so much silence, a reader of a file or a pipe is told once more. */
const silenceMs = 10_000;
/** On a terminal, nothing is said of a silence that is shorter. */
const shortMs = 1_500;

export interface StillAtIt {
  /** What `who` is at from now on; undefined when that is over. */
  set(who: string, text: string | undefined): void;
  /** Takes the lines away before another line is written. */
  clear(): void;
  stop(): void;
}

/** Its lines stand in the columns of the others; the time is how long it has been going on. */
export function showStillAtIt({
  timeWidth,
  nameWidth,
}: {
  readonly timeWidth: number;
  readonly nameWidth: number;
}): StillAtIt {
  const { isTerminal } = standardOutput;
  const at = new Map<string, { readonly text: string; readonly since: number }>();
  let [drawn, toldAt] = [0, performance.now()];
  const clear = (): void => {
    standardOutput.eraseLines(drawn);
    drawn = 0;
  };
  const lines = (now: number): string[] => {
    const shown = [...at].map(([who, { text, since }]) => ({ who, text, ms: now - since }));
    const all = shown.length > 0 ? shown : [{ who: "goal", text: "goes on", ms: now - toldAt }];
    return all.map(({ who, text, ms }) => {
      const time = `${Math.floor(ms / 1_000)} s`.padStart(timeWidth);
      return `${dim(time)}  ${who.padEnd(nameWidth)}  ${dim(text)}`;
    });
  };
  const draw = (): void => {
    const now = performance.now();
    if (now - toldAt < (isTerminal ? shortMs : silenceMs)) return;
    clear();
    const shown = lines(now);
    standardOutput.write(shown.map((line) => `${isTerminal ? cut(line, standardOutput.columns) : line}\n`).join(""));
    if (isTerminal) drawn = shown.length;
    else toldAt = now;
  };
  const timer = setInterval(draw, redrawMs);
  return {
    set(who, text) {
      if (text === undefined) at.delete(who);
      else at.set(who, { text, since: performance.now() });
    },
    clear() {
      clear();
      toldAt = performance.now();
    },
    stop() {
      clearInterval(timer);
      clear();
    },
  };
}
