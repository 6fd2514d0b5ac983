// A request in progress, as its handler sees it.

import type { IncomingMessage, ServerResponse } from "node:http";

import { TuttiError } from "../../protocol/error.ts";
import { type AuthDeps, bearerOf, type Caller, onceRevoked } from "./authorize.ts";
import type { AnyRequest } from "./handler.ts";
import { forwardedHeader } from "./forwarded-header.ts";

interface ActiveRequestOptions {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Aborted when the service stops. */
  readonly stopping: AbortSignal;
  readonly auth: AuthDeps;
  readonly input: Pick<AnyRequest, "params" | "query" | "headers" | "body" | "text" | "caller">;
}

export class ActiveRequest implements AnyRequest {
  readonly params: unknown;
  readonly query: unknown;
  readonly headers: unknown;
  readonly body: unknown;
  readonly text: string;
  readonly caller: Caller;
  readonly #options: ActiveRequestOptions;
  #controller: AbortController | undefined;
  #removeListeners: (() => void) | undefined;

  constructor(options: ActiveRequestOptions) {
    this.#options = options;
    const { params, query, headers, body, text, caller } = options.input;
    this.params = params;
    this.query = query;
    this.headers = headers;
    this.body = body;
    this.text = text;
    this.caller = caller;
  }

  get wantsStream(): boolean {
    return this.#options.request.headers.accept?.toLowerCase().includes("text/event-stream") === true;
  }

  get bearer(): string | undefined {
    return bearerOf(this.#options.request);
  }

  get forwarded(): boolean {
    return this.#options.request.headers[forwardedHeader] !== undefined;
  }

  /** Created when it is first read: most handlers do not need one. */
  get signal(): AbortSignal {
    if (this.#controller !== undefined) return this.#controller.signal;
    const { response, stopping, auth } = this.#options;
    const controller = new AbortController();
    this.#controller = controller;
    const onClose = (): void => controller.abort(new TuttiError("canceled", "the caller closed the connection"));
    const onStopping = (): void => controller.abort(stopping.reason);
    response.once("close", onClose);
    stopping.addEventListener("abort", onStopping);
    const offRevoked = onceRevoked(auth, this.caller, (why) => controller.abort(why));
    this.#removeListeners = () => {
      offRevoked();
      response.off("close", onClose);
      stopping.removeEventListener("abort", onStopping);
    };
    if (response.destroyed) onClose();
    if (stopping.aborted) onStopping();
    return controller.signal;
  }

  /** To be called when the handler has returned. */
  end(): void {
    this.#removeListeners?.();
  }
}
