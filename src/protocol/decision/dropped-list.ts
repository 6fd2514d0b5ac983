// Collects what was dropped: the first thousand by name, the rest as a number, so that a hostile reply stays readable.
import type { Dropped } from "./decision.ts";

const maxNamed = 1000;

export interface DroppedList {
  /** `describe` is called only for an entry that will be named. */
  add(describe: () => Dropped): void;
  /** False once further entries are only counted; callers can then skip looking at them closely. */
  naming(): boolean;
  entries(): Dropped[];
}

/** `kind` is the plural of what is collected. */
export function droppedList(kind: string): DroppedList {
  const named: Dropped[] = [];
  let unnamed = 0;
  return {
    add(describe) {
      if (named.length < maxNamed) named.push(describe());
      else unnamed += 1;
    },
    naming: () => named.length < maxNamed,
    entries: () =>
      unnamed === 0
        ? named
        : [...named, { what: `${unnamed} more ${kind}`, reason: `only the first ${maxNamed} are listed one by one` }],
  };
}
