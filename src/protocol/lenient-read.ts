// Reads a foreign shape: an unknown field is dropped and reported, null on an optional field means absent.

import { z } from "zod";

export interface ReadIssue {
  /** Where, as `targets[0].agent.type`; empty for the value as a whole. */
  readonly path: string;
  readonly message: string;
}

export type ReadResult<T> =
  | { readonly ok: true; readonly value: T; readonly warnings: readonly ReadIssue[] }
  | { readonly ok: false; readonly issues: readonly ReadIssue[] };

type Path = readonly PropertyKey[];

interface Findings {
  readonly warnings: ReadIssue[];
  readonly issues: ReadIssue[];
}

/** The longest path that is followed. Some shapes contain themselves, and a hostile value would overflow the stack. */
const maxPath = 100;

/** Never throws on a JSON value. Objects declared strict keep their unknown fields, so the schema itself refuses them. */
export function readLenient<S extends z.ZodType>(schema: S, value: unknown): ReadResult<z.infer<S>> {
  const found: Findings = { warnings: [], issues: [] };
  const tidied = tidy(schema, value, [], found);
  if (found.issues.length > 0) return { ok: false, issues: found.issues };
  const parsed = schema.safeParse(tidied);
  if (!parsed.success) return { ok: false, issues: issuesOf(parsed.error, tidied) };
  return { ok: true, value: parsed.data, warnings: found.warnings };
}

/** How the schema library ends its own sentence about a field that is not there. */
const nothingThere = ", received undefined";

/** A field that is not there is called missing; a schema only says what it expected. The value settles whether it is there. */
export function issuesOf(error: z.ZodError, value?: unknown): ReadIssue[] {
  return error.issues.map((issue) => {
    const isField = issue.code === "invalid_type" && issue.path.length > 0;
    const isMissing = isField && (isRecord(value) ? isAbsent(value, issue.path) : issue.message.endsWith(nothingThere));
    return { path: pathText(issue.path), message: isMissing ? "is missing" : issue.message };
  });
}

function isAbsent(value: unknown, [name, ...rest]: Path): boolean {
  if (name === undefined) return value === undefined;
  if (typeof value !== "object" || value === null) return false;
  return isAbsent(Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined, rest);
}

/** For people: the path first, unless the issue is about the value as a whole. */
export function describeIssue({ path, message }: ReadIssue): string {
  return path === "" ? message : `${path}: ${message}`;
}

/** All issues in one line. */
export function describeIssues(issues: readonly ReadIssue[]): string {
  return issues.map(describeIssue).join("; ");
}

function tidy(schema: z.core.$ZodType, value: unknown, path: Path, found: Findings): unknown {
  if (path.length > maxPath) {
    found.issues.push({ path: pathText(path.slice(0, 6)) + "…", message: "is nested too deeply" });
    return undefined;
  }
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodNullable) {
    return tidy(schema.def.innerType, value, path, found);
  }
  if (schema instanceof z.ZodArray && Array.isArray(value)) {
    return value.map((item, index) => tidy(schema.def.element, item, [...path, index], found));
  }
  if (!isRecord(value)) return value;
  if (schema instanceof z.ZodRecord) {
    const entries = Object.entries(value);
    return Object.fromEntries(
      entries.map(([key, item]) => [key, tidy(schema.def.valueType, item, [...path, key], found)]),
    );
  }
  if (schema instanceof z.ZodDiscriminatedUnion) {
    const tag = value[schema.def.discriminator];
    const option = schema.def.options.find((candidate) => hasTag(candidate, schema.def.discriminator, tag));
    return option === undefined ? value : tidy(option, value, path, found);
  }
  return schema instanceof z.ZodObject ? tidyObject(schema, value, path, found) : value;
}

function tidyObject(schema: z.ZodObject, value: Record<string, unknown>, path: Path, found: Findings): unknown {
  const entries: [string, unknown][] = [];
  for (const [key, item] of Object.entries(value)) {
    const field = Object.hasOwn(schema.shape, key) ? schema.shape[key] : undefined;
    if (field !== undefined) {
      if (item === null && field instanceof z.ZodOptional) continue;
      entries.push([key, tidy(field, item, [...path, key], found)]);
    } else if (schema.def.catchall === undefined) {
      found.warnings.push({ path: pathText([...path, key]), message: "is not a known field and was ignored" });
    } else {
      entries.push([key, item]);
    }
  }
  return Object.fromEntries(entries);
}

function hasTag(option: z.core.$ZodType, discriminator: string, tag: unknown): boolean {
  const values: ReadonlySet<unknown> | undefined = option._zod.propValues?.[discriminator];
  return values?.has(tag) ?? false;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function pathText(path: Path): string {
  let text = "";
  for (const segment of path) {
    if (typeof segment === "number") text += `[${segment}]`;
    else text += text === "" ? String(segment) : `.${String(segment)}`;
  }
  return text;
}
