// What answers a route: the types that tie every handler to its line in the table.

import type { Answered, RouteSpec, Taken } from "../../protocol/api/route-shape.ts";
import type { RouteName, Routes } from "../../protocol/api/routes.ts";
import type { Caller } from "./caller.ts";
import type { StreamRequest } from "./event-stream.ts";
import type { Refused } from "./refused.ts";

interface Asked {
  readonly caller: Caller;
  /** The body as it came. */
  readonly text: string;
  /** The caller accepts server-sent events. */
  readonly wantsStream: boolean;
  /** Aborted when the caller is gone or the service stops. */
  readonly signal: AbortSignal;
}

interface Call<R extends RouteSpec> extends Taken<R>, Asked {}

export interface AnyCall extends Asked {
  readonly params: unknown;
  readonly query: unknown;
  readonly headers: unknown;
  readonly body: unknown;
}

interface JsonReply<V> {
  readonly value: V;
  /** The route's own when absent. */
  readonly status?: number;
  /** Called when the reply has gone out. */
  readonly afterwards?: () => void;
}

type ReplyOf<R extends RouteSpec> =
  | { readonly refused: Refused }
  | (R["reply"] extends { readonly type: "json" }
      ? JsonReply<Answered<R>>
      : R["reply"] extends { readonly type: "lines" }
        ? { readonly lines: Iterable<string> }
        : R["reply"] extends { readonly type: "events" }
          ? { readonly json: string } | { readonly stream: StreamRequest }
          : R["reply"] extends { readonly type: "empty" }
            ? Done
            : never);

/** There is nothing to say but that it was done. */
interface Done {
  readonly done: true;
}

export type AnyReply =
  | { readonly refused: Refused }
  | JsonReply<unknown>
  | { readonly lines: Iterable<string> }
  | { readonly json: string }
  | { readonly stream: StreamRequest }
  | Done;

/** A method, so that a handler of one route can stand among those of all: its call was validated by its own line. */
interface Answering<C, A> {
  answer(call: C): A | Promise<A>;
}

/** Every route has one: a missing route is a type error. */
export type Handlers = { readonly [K in RouteName]: Answering<Call<Routes[K]>, ReplyOf<Routes[K]>>["answer"] };
export type AnyHandlers = { readonly [K in RouteName]: Answering<AnyCall, AnyReply>["answer"] };
