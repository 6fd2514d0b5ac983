// What JSON would keep of a value, as a copy made without going through text.

/** Deeper values are left to JSON itself, which also says it best when a value holds itself. */
const deepest = 100;

/** Undefined when JSON would change something in it; then only its text can tell what is kept. */
export function jsonCopy(value: unknown, depth = 0): unknown {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      return Number.isFinite(value) && !Object.is(value, -0) ? value : undefined;
    case "object":
      if (value === null) return null;
      if (depth === deepest) return undefined;
      if (Array.isArray(value)) return arrayCopy(value, depth + 1);
      return isPlain(value) ? objectCopy(value, depth + 1) : undefined;
    default:
      return undefined;
  }
}

function isPlain(value: object): value is Readonly<Record<string, unknown>> {
  return Object.getPrototypeOf(value) === Object.prototype;
}

function arrayCopy(values: readonly unknown[], depth: number): unknown[] | undefined {
  if (Object.getPrototypeOf(values) !== Array.prototype || Object.hasOwn(values, "toJSON")) return undefined;
  const copy: unknown[] = [];
  for (const value of values) {
    const kept = jsonCopy(value, depth);
    if (kept === undefined) return undefined;
    copy.push(kept);
  }
  return copy;
}

function objectCopy(value: Readonly<Record<string, unknown>>, depth: number): Record<string, unknown> | undefined {
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    // Assigned, it would become the prototype of the copy.
    const kept = key === "__proto__" ? undefined : jsonCopy(value[key], depth);
    if (kept === undefined) return undefined;
    copy[key] = kept;
  }
  return copy;
}
