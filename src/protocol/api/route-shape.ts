// One route of the API as data: what it takes, what it replies, and who may call it. Server, client and OpenAPI use this.

import type { z } from "zod";

/**
 * Who may call. `public`: anybody who passes the Host and Origin checks. `viewer`, `operator`, `admin`: a key with at least
 * that role. `session`: an operator with the token of its own session or the key
 * it joined with; other keys may read it, and an admin may end it. `worker`: whoever has the token or
 * handle of an attempt.
 */
export type Access = "public" | "viewer" | "operator" | "admin" | "session" | "worker";

type Shape = z.ZodObject;

export type RouteBody =
  | {
      readonly type: "json";
      readonly schema: z.ZodType;
      /** An absent body counts as `{}`. */
      readonly optional?: true;
      /** The handler reads the parsed JSON itself, and accepts more than the schema does. */
      readonly lenient?: true;
    }
  /** Any text. */
  | { readonly type: "text" };

export type RouteReply =
  | { readonly type: "json"; readonly status: number; readonly schema: z.ZodType; readonly also?: readonly number[] }
  | { readonly type: "empty"; readonly status: 204 }
  /** One JSON object per line. */
  | { readonly type: "lines"; readonly status: 200; readonly schema: z.ZodType }
  /** A page of JSON, or server-sent events for a caller that accepts `text/event-stream`. */
  | { readonly type: "events"; readonly status: 200; readonly schema: z.ZodType }
  | { readonly type: "upgrade"; readonly status: 101 };

export interface RouteSpec {
  readonly method: "GET" | "POST" | "DELETE";
  /** Parameters in braces. */
  readonly path: `/${string}`;
  readonly tag:
    | "service"
    | "goals"
    | "invocations"
    | "tasks"
    | "sessions"
    | "schedules"
    | "conversations"
    | "threads"
    | "workspaces"
    | "asks"
    | "catalog"
    | "events"
    | "operators"
    | "workers"
    | "insight"
    | "keys";
  readonly about: string;
  readonly access: Access;
  readonly params?: Shape;
  /** Every value arrives as text. */
  readonly query?: Shape;
  /** In lower case. */
  readonly headers?: Shape;
  readonly body?: RouteBody;
  readonly reply: RouteReply;
  /** Error statuses, in addition to those every route may have. */
  readonly refuses?: readonly number[];
}

export function route<const R extends RouteSpec>(spec: R): R {
  return spec;
}

/** A JSON reply with status 200. */
export const jsonReply = <S extends z.ZodType>(schema: S) => ({ type: "json", status: 200, schema }) as const;

/** A JSON body. */
export const jsonBody = <S extends z.ZodType>(schema: S) => ({ type: "json", schema }) as const;

type Output<T> = T extends z.ZodType ? z.output<T> : undefined;
type Input<T> = T extends z.ZodType ? z.input<T> : undefined;
type Part<R, K extends string> = K extends keyof R ? R[K] : undefined;
type BodyOf<R extends RouteSpec, Json> = R["body"] extends { readonly type: "text" }
  ? string
  : R["body"] extends { readonly type: "json" }
    ? Json
    : undefined;
type BodySchema<R extends RouteSpec> = R["body"] extends { readonly schema: infer S } ? S : undefined;

/** What a handler gets: the validated parts of the request. */
export interface RouteInput<R extends RouteSpec> {
  readonly params: Output<Part<R, "params">>;
  readonly query: Output<Part<R, "query">>;
  readonly headers: Output<Part<R, "headers">>;
  readonly body: BodyOf<R, R["body"] extends { readonly lenient: true } ? unknown : Output<BodySchema<R>>>;
}

/** What a caller of the route has to pass. */
export type RouteArguments<R extends RouteSpec> = {
  readonly [K in "params" | "query" | "headers" as R[K] extends z.ZodType ? K : never]: Input<R[K]>;
} & (R["body"] extends RouteBody
  ? { readonly body: BodyOf<R, R["body"] extends { readonly lenient: true } ? unknown : Input<BodySchema<R>>> }
  : unknown);

/** The body of a JSON reply. */
export type RouteResult<R extends RouteSpec> = R["reply"] extends { readonly schema: infer S } ? Output<S> : undefined;
