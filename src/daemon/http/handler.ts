// The types of route handlers: each one is tied to its entry in the route table.

import type { RouteInput, RouteResult, RouteSpec } from "../../protocol/api/route-shape.ts";
import type { RouteName, Routes } from "../../protocol/api/routes.ts";
import type { Caller } from "./authorize.ts";
import type { StreamRequest } from "./event-stream.ts";
import type { HttpError } from "./http-error.ts";

interface RequestFacts {
  readonly caller: Caller;
  /** The secret that the caller sent; undefined when it sent none. */
  readonly bearer: string | undefined;
  /** The body before it was parsed. */
  readonly text: string;
  /** Whether the caller accepts server-sent events. */
  readonly wantsStream: boolean;
  /** It came from another node, which had looked up that this one has to answer. */
  readonly forwarded: boolean;
  /** Aborted when the caller closes the connection, its key is revoked or the service stops. */
  readonly signal: AbortSignal;
}

/** The validated request of one route. */
interface RouteRequest<R extends RouteSpec> extends RouteInput<R>, RequestFacts {}

export interface AnyRequest extends RequestFacts {
  readonly params: unknown;
  readonly query: unknown;
  readonly headers: unknown;
  readonly body: unknown;
}

interface JsonReply<V> {
  readonly value: V;
  /** The value as JSON, if it is always the same: one copy for all callers, however many do not read it. */
  readonly encoded?: Buffer;
  /** Replaces the route's status. */
  readonly status?: number;
  /** Called after the reply was sent. */
  readonly afterwards?: () => void;
}

/** The reply of a route without a body. */
interface EmptyReply {
  readonly done: true;
}

interface ErrorReply {
  readonly error: HttpError;
  /** A secret was sent that nobody here has, so the caller may be guessing, and is answered late. */
  readonly unknownSecret?: true;
}

type ReplyOf<R extends RouteSpec> =
  | ErrorReply
  | (R["reply"] extends { readonly type: "json" }
      ? JsonReply<RouteResult<R>>
      : R["reply"] extends { readonly type: "lines" }
        ? { readonly lines: AsyncIterable<string> }
        : R["reply"] extends { readonly type: "events" }
          ? { readonly json: string } | { readonly stream: StreamRequest }
          : R["reply"] extends { readonly type: "empty" }
            ? EmptyReply
            : never);

export type AnyReply =
  | ErrorReply
  | JsonReply<unknown>
  | { readonly lines: AsyncIterable<string> }
  | { readonly json: string }
  | { readonly stream: StreamRequest }
  | EmptyReply;

/**
 * A method, not a function type: parameters of methods are compared loosely, so the handler of one route also counts as
 * a handler of any request. That is sound because a request reaches only the handler whose schemas validated it.
 */
interface Handler<Request, Reply> {
  handle(request: Request): Reply | Promise<Reply>;
}

/** One handler for every route: a missing one is a type error. */
export type Handlers = { readonly [K in RouteName]: Handler<RouteRequest<Routes[K]>, ReplyOf<Routes[K]>>["handle"] };
export type AnyHandlers = { readonly [K in RouteName]: Handler<AnyRequest, AnyReply>["handle"] };
