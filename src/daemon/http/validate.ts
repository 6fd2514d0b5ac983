// Checks the parts of a request against the shapes of its route.

import type { z } from "zod";

import type { RouteSpec } from "../../protocol/api/route-shape.ts";
import { issuesOf } from "../../protocol/lenient-read.ts";
import { type Refused, refuse } from "./refused.ts";

type Checked = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly refused: Refused };

const nothing: Checked = { ok: true, value: undefined };

/** What does not fit can be the name of nothing. */
export function checkParams(spec: RouteSpec, params: Readonly<Record<string, string>> = {}): Checked {
  if (spec.params === undefined) return nothing;
  const parsed = spec.params.safeParse(params);
  if (parsed.success) return { ok: true, value: parsed.data };
  const issues = issuesOf(parsed.error);
  const [name = ""] = issues.map(({ path }) => path);
  const message = `there is no ${name} ${(params[name] ?? "").slice(0, 64)}`;
  return { ok: false, refused: refuse("not_found", message, { details: { issues } }) };
}

export function checkQuery(spec: RouteSpec, query: Readonly<Record<string, string>>): Checked {
  if (spec.query !== undefined) return check("query", spec.query, query);
  const [name] = Object.keys(query);
  if (name === undefined) return nothing;
  return { ok: false, refused: refuse("invalid_input", "this route takes no query") };
}

export function checkHeaders(spec: RouteSpec, headers: unknown): Checked {
  return spec.headers === undefined ? nothing : check("headers", spec.headers, headers);
}

export function checkBody(spec: RouteSpec, value: unknown): Checked {
  if (spec.body?.type !== "json" || spec.body.lenient === true) return { ok: true, value };
  return check("body", spec.body.schema, value);
}

const toldIssues = 20;

function check(where: string, schema: z.ZodType, value: unknown): Checked {
  const parsed = schema.safeParse(value);
  if (parsed.success) return { ok: true, value: parsed.data };
  const issues = issuesOf(parsed.error).slice(0, toldIssues);
  const said = issues.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`)).join("; ");
  return {
    ok: false,
    refused: refuse("invalid_input", `the ${where} cannot be used: ${said}`, { details: { issues } }),
  };
}
