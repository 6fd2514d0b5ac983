// A copy of a value as JSON would write and read it, made without going through text, or the value itself if that is the same.

/** Deeper values are left to JSON.stringify, which also reports a value that contains itself. */
const maxDepth = 100;

/** Undefined if JSON would change the value; then it must go through text. */
export function jsonCopy(value: unknown, depth = 0): unknown {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      return Number.isFinite(value) && !Object.is(value, -0) ? value : undefined;
    case "object":
      if (value === null) return null;
      if (depth === maxDepth) return undefined;
      if (Array.isArray(value)) return arrayCopy(value, depth + 1);
      return isPlain(value) ? objectCopy(value, depth + 1) : undefined;
    default:
      return undefined;
  }
}

/** Whether JSON would write the value and read it back unchanged. */
export function isJsonValue(value: unknown, depth = 0): boolean {
  switch (typeof value) {
    case "string":
    case "boolean":
      return true;
    case "number":
      return Number.isFinite(value) && !Object.is(value, -0);
    case "object":
      if (value === null) return true;
      if (depth === maxDepth) return false;
      if (Array.isArray(value)) return isJsonArray(value, depth + 1);
      return isPlain(value) && isJsonObject(value, depth + 1);
    default:
      return false;
  }
}

function isJsonArray(values: readonly unknown[], depth: number): boolean {
  if (Object.getPrototypeOf(values) !== Array.prototype || Object.hasOwn(values, "toJSON")) return false;
  for (const value of values) if (!isJsonValue(value, depth)) return false;
  return true;
}

function isJsonObject(value: Readonly<Record<string, unknown>>, depth: number): boolean {
  // The prototype has no fields, so that `in` finds only the value's own.
  for (const key in value) if (key === "__proto__" || !isJsonValue(value[key], depth)) return false;
  return true;
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
    // An assignment would set the prototype of the copy.
    const kept = key === "__proto__" ? undefined : jsonCopy(value[key], depth);
    if (kept === undefined) return undefined;
    copy[key] = kept;
  }
  return copy;
}
