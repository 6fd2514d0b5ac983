// Where the `exports` and `imports` of a package.json lead, and how the base's entries that lead to the check are kept.

/** A key of `exports` or `imports` with all files that its conditions name. */
interface Entry {
  readonly key: string;
  readonly targets: readonly string[];
}

const mostDepth = 6;

function entriesOf(value: unknown): Entry[] {
  const record = asRecord(value);
  const isKeyed = record !== undefined && Object.keys(record).some((key) => /^[.#]/.test(key));
  // Without keys, it is the package itself.
  if (!isKeyed) return value === undefined ? [] : [{ key: ".", targets: leavesOf(value) }];
  return Object.entries(record).map(([key, each]) => ({ key, targets: leavesOf(each) }));
}

function leavesOf(value: unknown, depth = 0): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null || depth >= mostDepth) return [];
  return Object.values(value).flatMap((each) => leavesOf(each, depth + 1));
}

/** The files that `./name` or `#name` may mean; undefined when the field has no entry for it. */
export function exportTargets(field: unknown, wanted: string): string[] | undefined {
  const fitting = entriesOf(field).flatMap(({ key, targets }) => {
    const rest = starOf(key, wanted);
    return rest === undefined ? [] : [{ key, found: targets.map((each) => each.replaceAll("*", rest)) }];
  });
  // The longest key is the one that counts.
  return fitting.toSorted((one, other) => lengthOf(other.key) - lengthOf(one.key))[0]?.found;
}

function lengthOf(key: string): number {
  return key.includes("*") ? key.indexOf("*") : Infinity;
}

/** What the star of the key stands for; empty for a key without one that is the same. */
function starOf(key: string, wanted: string): string | undefined {
  const at = key.indexOf("*");
  if (at === -1) return key === wanted ? "" : undefined;
  const [before, after] = [key.slice(0, at), key.slice(at + 1)];
  const isLong = wanted.length >= before.length + after.length;
  if (!isLong || !wanted.startsWith(before) || !wanted.endsWith(after)) return undefined;
  return wanted.slice(before.length, wanted.length - after.length);
}

/** The session's field, in which nothing stands in for an entry of the base that leads to a file of the check. */
export function exportsWithBase(session: unknown, base: unknown, isCheck: (target: string) => boolean): unknown {
  const bound = entriesOf(base)
    .filter(({ targets }) => targets.some(isCheck))
    .map(({ key }) => key);
  if (bound.length === 0) return session;
  const [mine, theirs] = [keyed(session), keyed(base)];
  if (mine === undefined || theirs === undefined) return base;
  const standsIn = (key: string): boolean =>
    !Object.hasOwn(theirs, key) && bound.some((each) => starOf(each, key) !== undefined);
  const left = Object.entries(mine).filter(([key]) => !standsIn(key));
  return { ...Object.fromEntries(left), ...Object.fromEntries(bound.map((key) => [key, theirs[key]])) };
}

/** With the package itself as the key `.`. */
function keyed(field: unknown): Record<string, unknown> | undefined {
  const record = asRecord(field);
  if (record !== undefined && Object.keys(record).some((key) => /^[.#]/.test(key))) return record;
  return field === undefined || field === null ? undefined : { ".": field };
}

function asRecord(value: unknown): Record<string, unknown> | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value))
    : undefined;
}
