// Names that rows brought from another store: which row each of them stands for here, as stretches of ids that go on together.

/** Tasks, waits and threads have names, each kind with ids of its own. */
export type NamedKind = "tsk" | "ask" | "thr";
const namedKinds: readonly NamedKind[] = ["tsk", "ask", "thr"];

/** `count` ids that follow each other there and here. */
interface Stretch {
  readonly there: number;
  readonly here: number;
  readonly count: number;
}

interface KeptIds {
  readonly byThere: readonly Stretch[];
  readonly byHere: readonly Stretch[];
}

/** Plain data, so that it can be passed to a thread. */
export interface KeptNames {
  /** Of the store that gave the names. */
  readonly salt: string;
  readonly ids: Readonly<Record<NamedKind, KeptIds>>;
}

/** The row here that the other store knew under this id. */
export function idHere({ ids }: KeptNames, kind: NamedKind, there: number): number | undefined {
  const found = lastAtMost(ids[kind].byThere, "there", there);
  const offset = found === undefined ? 0 : there - found.there;
  return found !== undefined && offset < found.count ? found.here + offset : undefined;
}

/** The id that the other store had given this row. */
export function idThere({ ids }: KeptNames, kind: NamedKind, here: number): number | undefined {
  const found = lastAtMost(ids[kind].byHere, "here", here);
  const offset = found === undefined ? 0 : here - found.here;
  return found !== undefined && offset < found.count ? found.there + offset : undefined;
}

function lastAtMost(sorted: readonly Stretch[], by: "there" | "here", value: number): Stretch | undefined {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle]?.[by] ?? Infinity) <= value) low = middle + 1;
    else high = middle;
  }
  return sorted[low - 1];
}

/** Collects which row stands for which; rows that are added in order make long stretches. */
export class KeptNamesBuilder {
  readonly #stretches: Record<NamedKind, { there: number; here: number; count: number }[]> = {
    tsk: [],
    ask: [],
    thr: [],
  };

  add(kind: NamedKind, there: number, here: number): void {
    const last = this.#stretches[kind].at(-1);
    if (last !== undefined && there === last.there + last.count && here === last.here + last.count) last.count += 1;
    else this.#stretches[kind].push({ there, here, count: 1 });
  }

  /** As the store keeps it. */
  text(): string {
    return namedKinds.map((kind) => stretchesText(this.#stretches[kind])).join("/");
  }
}

/** What differs from the stretch before, which is little: most stores have many trees and number them one after the other. */
function stretchesText(stretches: readonly Stretch[]): string {
  let [there, here] = [0, 0];
  return stretches
    .toSorted((a, b) => a.there - b.there)
    .map((each) => {
      const text = [each.there - there, each.here - here, each.count].map((value) => value.toString(36)).join(",");
      [there, here] = [each.there, each.here];
      return text;
    })
    .join(";");
}

export function readKeptNames(salt: string, text: string): KeptNames {
  const [tsk = "", ask = "", thr = ""] = text.split("/");
  return { salt, ids: { tsk: readIds(tsk), ask: readIds(ask), thr: readIds(thr) } };
}

function readIds(text: string): KeptIds {
  let [there, here] = [0, 0];
  const byThere =
    text === ""
      ? []
      : text.split(";").map((each): Stretch => {
          const [first = 0, second = 0, count = 0] = each.split(",").map((value) => Number.parseInt(value, 36));
          there += first;
          here += second;
          return { there, here, count };
        });
  return { byThere, byHere: byThere.toSorted((a, b) => a.here - b.here) };
}
