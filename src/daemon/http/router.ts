// Finds the route of a request: compiled once from the table, exact segments, nothing normalised.

import type { RouteName } from "../../protocol/api/routes.ts";
import type { RouteSpec } from "../../protocol/api/route-shape.ts";
import { type Refused, refuse } from "./refused.ts";

interface Found<T> {
  readonly route: T;
  /** Decoded; undefined when the path has none. */
  readonly params: Readonly<Record<string, string>> | undefined;
}

/** What is at a path: one entry for each method. */
interface RoutePath<T> {
  readonly segments: readonly string[];
  readonly names: readonly (string | undefined)[];
  readonly methods: Map<string, T>;
  readonly allow: string[];
}

export interface Router<T> {
  /** `HEAD` finds what `GET` does; `OPTIONS` of a known path says what is allowed there. */
  find(method: string, path: string): Found<T> | { readonly refused: Refused } | { readonly allow: string };
}

const nothing = refuse("not_found", "there is nothing at this path");

export function routerOf<T>(table: Readonly<Record<RouteName, RouteSpec>>, make: (name: RouteName) => T): Router<T> {
  const fixed = new Map<string, RoutePath<T>>();
  const varying = new Map<number, RoutePath<T>[]>();
  for (const name of names(table)) {
    const { method, path } = table[name];
    const place = pathAt(path, fixed, varying);
    place.methods.set(method, make(name));
    place.allow.push(...(method === "GET" ? ["GET", "HEAD"] : [method]));
  }
  return {
    find(method, path) {
      const exact = fixed.get(path);
      if (exact !== undefined) return at(exact, method, undefined);
      const segments = path.split("/");
      const place = varying.get(segments.length)?.find((each) => fits(each, segments));
      if (place === undefined) return { refused: nothing };
      const params: Record<string, string> = {};
      for (let index = 0; index < segments.length; index += 1) {
        const name = place.names[index];
        if (name === undefined) continue;
        const value = decoded(segments[index] ?? "");
        if (typeof value !== "string") return value;
        params[name] = value;
      }
      return at(place, method, params);
    },
  };
}

function names(table: Readonly<Record<RouteName, RouteSpec>>): RouteName[] {
  return Object.keys(table).filter((name): name is RouteName => Object.hasOwn(table, name));
}

function pathAt<T>(path: string, fixed: Map<string, RoutePath<T>>, varying: Map<number, RoutePath<T>[]>): RoutePath<T> {
  const segments = path.split("/");
  const params = segments.map((segment) => /^\{(\w+)\}$/.exec(segment)?.[1]);
  const made: RoutePath<T> = { segments, names: params, methods: new Map(), allow: ["OPTIONS"] };
  if (params.every((name) => name === undefined)) {
    const known = fixed.get(path) ?? made;
    fixed.set(path, known);
    return known;
  }
  const alike = varying.get(segments.length) ?? [];
  const known = alike.find((place) => place.segments.join("/") === path);
  if (known !== undefined) return known;
  varying.set(segments.length, [...alike, made]);
  return made;
}

/** A parameter takes any segment but none at all and those that stand for another folder. */
function fits<T>({ segments, names: params }: RoutePath<T>, given: readonly string[]): boolean {
  for (let index = 0; index < segments.length; index += 1) {
    const segment = given[index];
    if (params[index] === undefined ? segment !== segments[index] : segment === "") return false;
  }
  return true;
}

function decoded(segment: string): string | { readonly refused: Refused } {
  if (segment === "." || segment === "..") return { refused: nothing };
  if (!segment.includes("%")) return segment;
  let value: string;
  try {
    value = decodeURIComponent(segment);
  } catch {
    return { refused: refuse("usage", "the path is not percent-encoded UTF-8") };
  }
  return /^\.{1,2}$|\p{Cc}/u.test(value) ? { refused: nothing } : value;
}

function at<T>(
  place: RoutePath<T>,
  method: string,
  params: Found<T>["params"],
): Found<T> | { readonly refused: Refused } | { readonly allow: string } {
  const route = place.methods.get(method === "HEAD" ? "GET" : method);
  if (route !== undefined) return { route, params };
  const allow = place.allow.join(", ");
  if (method === "OPTIONS") return { allow };
  return { refused: refuse("usage", `this path takes ${allow}`, { status: 405, headers: ["Allow", allow] }) };
}
