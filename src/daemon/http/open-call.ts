// A request under way as its handler sees it.

import type { IncomingMessage, ServerResponse } from "node:http";

import { TuttiError } from "../../protocol/error.ts";
import type { Caller } from "./caller.ts";
import type { AnyCall } from "./handler.ts";

/** Calls back when the service stops; returns what calls it off. */
export type Stopping = (listener: (reason: TuttiError) => void) => () => void;

interface Opening {
  readonly onStopping: Stopping;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly caller: Caller;
  readonly asked: Pick<AnyCall, "params" | "query" | "headers" | "body" | "text">;
}

/** What a handler is given; its signal is made when somebody looks at it, which most do not. */
export class OpenCall implements AnyCall {
  readonly params: unknown;
  readonly query: unknown;
  readonly headers: unknown;
  readonly body: unknown;
  readonly text: string;
  readonly caller: Caller;
  readonly #opening: Opening;
  #controller: AbortController | undefined;
  #off: (() => void) | undefined;

  constructor(opening: Opening) {
    this.#opening = opening;
    const { params, query, headers, body, text } = opening.asked;
    this.params = params;
    this.query = query;
    this.headers = headers;
    this.body = body;
    this.text = text;
    this.caller = opening.caller;
  }

  get wantsStream(): boolean {
    return this.#opening.request.headers.accept?.toLowerCase().includes("text/event-stream") === true;
  }

  get signal(): AbortSignal {
    if (this.#controller !== undefined) return this.#controller.signal;
    const { response } = this.#opening;
    const controller = new AbortController();
    this.#controller = controller;
    const gone = (): void => controller.abort(new TuttiError("canceled", "the caller went away"));
    response.once("close", gone);
    const offStopping = this.#opening.onStopping((reason) => controller.abort(reason));
    this.#off = () => {
      response.off("close", gone);
      offStopping();
    };
    if (response.destroyed) gone();
    return controller.signal;
  }

  over(): void {
    this.#off?.();
  }
}
