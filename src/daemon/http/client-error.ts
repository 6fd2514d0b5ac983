// Answers connections whose bytes Node cannot read as a request, or whose request takes too long to arrive.

import type { Duplex } from "node:stream";

import { type HttpError, httpError } from "./http-error.ts";
import { sendErrorOnSocket } from "./reply.ts";

/** How long the caller has to read the error before the connection is destroyed. */
const readErrorMs = 500;

/** The listener of the server's `clientError` event. A connection on which a reply has begun can only be closed. */
export function onClientError(error: NodeJS.ErrnoException, socket: Duplex): void {
  const replyBegan = "bytesWritten" in socket && socket.bytesWritten !== 0;
  if (replyBegan || !socket.writable || error.code === "ECONNRESET") {
    socket.destroy();
    return;
  }
  sendErrorOnSocket(socket, httpErrorOf(error), readErrorMs);
}

function httpErrorOf({ code }: NodeJS.ErrnoException): HttpError {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return httpError("too_large", "the headers are too long", { status: 431 });
    case "HPE_CHUNK_EXTENSIONS_OVERFLOW":
      return httpError("too_large", "the chunk extensions are too long");
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return httpError("usage", "the request took too long to arrive", { status: 408 });
    default:
      return httpError("usage", "this is not an HTTP request");
  }
}
