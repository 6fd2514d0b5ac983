// Finds the route of a request by method and path. Paths are compared segment by segment, and nothing is normalised.

import type { RouteName } from "../../protocol/api/routes.ts";
import type { RouteSpec } from "../../protocol/api/route-shape.ts";
import { type HttpError, httpError } from "./http-error.ts";

interface RouteMatch {
  readonly route: RouteName;
  /** Decoded; undefined when the path has none. */
  readonly params: Readonly<Record<string, string>> | undefined;
}

type Found = RouteMatch | { readonly error: HttpError } | { readonly allow: string };

/** The routes of one path, one for each method. */
interface PathEntry {
  readonly segments: readonly string[];
  /** The name of the parameter in each segment; undefined where the segment is fixed. */
  readonly paramNames: readonly (string | undefined)[];
  readonly methods: Map<string, RouteName>;
  readonly allow: string[];
}

export interface Router {
  /** `HEAD` finds what `GET` finds. `OPTIONS` of a known path gives the methods that are allowed there. */
  find(method: string, path: string): Found;
}

const notFound = httpError("not_found", "there is nothing at this path");

export function createRouter(table: Readonly<Record<RouteName, RouteSpec>>): Router {
  const fixedPaths = new Map<string, PathEntry>();
  const paramPaths = new Map<number, PathEntry[]>();
  for (const route of routeNames(table)) {
    const { method, path } = table[route];
    const entry = entryFor(path, fixedPaths, paramPaths);
    entry.methods.set(method, route);
    entry.allow.push(...(method === "GET" ? ["GET", "HEAD"] : [method]));
  }
  return {
    find(method, path) {
      const fixed = fixedPaths.get(path);
      if (fixed !== undefined) return matchMethod(fixed, method, undefined);
      const segments = path.split("/");
      const entry = paramPaths.get(segments.length)?.find((each) => matchesPath(each, segments));
      if (entry === undefined) return { error: notFound };
      const params: Record<string, string> = {};
      for (let index = 0; index < segments.length; index += 1) {
        const name = entry.paramNames[index];
        if (name === undefined) continue;
        const value = decoded(segments[index] ?? "");
        if (typeof value !== "string") return value;
        params[name] = value;
      }
      return matchMethod(entry, method, params);
    },
  };
}

function routeNames(table: Readonly<Record<RouteName, RouteSpec>>): RouteName[] {
  return Object.keys(table).filter((name): name is RouteName => Object.hasOwn(table, name));
}

/** The entry of a path in the table, added when it is not there yet. */
function entryFor(path: string, fixedPaths: Map<string, PathEntry>, paramPaths: Map<number, PathEntry[]>): PathEntry {
  const segments = path.split("/");
  const paramNames = segments.map((segment) => /^\{(\w+)\}$/.exec(segment)?.[1]);
  const added: PathEntry = { segments, paramNames, methods: new Map(), allow: ["OPTIONS"] };
  if (paramNames.every((name) => name === undefined)) {
    const known = fixedPaths.get(path) ?? added;
    fixedPaths.set(path, known);
    return known;
  }
  const sameLength = paramPaths.get(segments.length) ?? [];
  const known = sameLength.find((entry) => entry.segments.join("/") === path);
  if (known !== undefined) return known;
  paramPaths.set(segments.length, [...sameLength, added]);
  return added;
}

/** A parameter matches any segment that is not empty. */
function matchesPath({ segments, paramNames }: PathEntry, requested: readonly string[]): boolean {
  for (let index = 0; index < segments.length; index += 1) {
    const segment = requested[index];
    if (paramNames[index] === undefined ? segment !== segments[index] : segment === "") return false;
  }
  return true;
}

/** Dot segments and control characters are never the value of a parameter. */
function decoded(segment: string): string | { readonly error: HttpError } {
  if (segment === "." || segment === "..") return { error: notFound };
  if (!segment.includes("%")) return segment;
  let value: string;
  try {
    value = decodeURIComponent(segment);
  } catch {
    return { error: httpError("usage", "the path is not percent-encoded UTF-8") };
  }
  return /^\.{1,2}$|\p{Cc}/u.test(value) ? { error: notFound } : value;
}

function matchMethod(entry: PathEntry, method: string, params: RouteMatch["params"]): Found {
  const route = entry.methods.get(method === "HEAD" ? "GET" : method);
  if (route !== undefined) return { route, params };
  const allow = entry.allow.join(", ");
  if (method === "OPTIONS") return { allow };
  return { error: httpError("usage", `this path takes ${allow}`, { status: 405, headers: ["Allow", allow] }) };
}
