// Validates the parts of a request with the schemas of its route.

import type { z } from "zod";

import type { RouteSpec } from "../../protocol/api/route-shape.ts";
import { issuesOf, describeIssues } from "../../protocol/lenient-read.ts";
import { type HttpError, httpError } from "./http-error.ts";

type Validated = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: HttpError };

const nothing: Validated = { ok: true, value: undefined };

/** A parameter that does not fit its schema cannot be the name of anything, so the answer is `not_found`. */
export function validateParams(spec: RouteSpec, params: Readonly<Record<string, string>> = {}): Validated {
  if (spec.params === undefined) return nothing;
  const parsed = spec.params.safeParse(params);
  if (parsed.success) return { ok: true, value: parsed.data };
  const issues = issuesOf(parsed.error);
  const [name = ""] = issues.map(({ path }) => path);
  const message = `there is no ${name} ${(params[name] ?? "").slice(0, 64)}`;
  return { ok: false, error: httpError("not_found", message, { details: { issues } }) };
}

export function validateQuery(spec: RouteSpec, query: Readonly<Record<string, string>>): Validated {
  if (spec.query !== undefined) return validate("query", spec.query, query);
  const [name] = Object.keys(query);
  if (name === undefined) return nothing;
  return { ok: false, error: httpError("invalid_input", "this route takes no query") };
}

export function validateHeaders(spec: RouteSpec, headers: unknown): Validated {
  return spec.headers === undefined ? nothing : validate("headers", spec.headers, headers);
}

export function validateBody(spec: RouteSpec, value: unknown): Validated {
  if (spec.body?.type !== "json" || spec.body.lenient === true) return { ok: true, value };
  return validate("body", spec.body.schema, value);
}

const maxIssues = 20;

function validate(part: string, schema: z.ZodType, value: unknown): Validated {
  const parsed = schema.safeParse(value);
  if (parsed.success) return { ok: true, value: parsed.data };
  const issues = issuesOf(parsed.error, value).slice(0, maxIssues);
  const error = httpError("invalid_input", `the ${part} cannot be used: ${describeIssues(issues)}`, {
    details: { issues },
  });
  return { ok: false, error };
}
