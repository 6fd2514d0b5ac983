// Answers what is no HTTP request, or one that takes too long to arrive: a problem when nothing was said yet, then the end.

import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";

import { type Refused, refuse } from "./refused.ts";
import { problemReply } from "./reply.ts";

/** How long a caller has to read why. */
const farewellMs = 500;

export function clientError(error: NodeJS.ErrnoException, socket: Duplex): void {
  const answered = "bytesWritten" in socket && socket.bytesWritten !== 0;
  if (answered || !socket.writable || error.code === "ECONNRESET") {
    socket.destroy();
    return;
  }
  refuseSocket(socket, refusalOf(error), farewellMs);
}

function refusalOf({ code }: NodeJS.ErrnoException): Refused {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return refuse("too_large", "the headers are too long", { status: 431 });
    case "HPE_CHUNK_EXTENSIONS_OVERFLOW":
      return refuse("too_large", "the chunk extensions are too long");
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return refuse("usage", "the request took too long to arrive", { status: 408 });
    default:
      return refuse("usage", "this is no HTTP request");
  }
}

/** Writes the refusal by hand, on a connection that has no response, and closes it. */
export function refuseSocket(socket: Duplex, refused: Refused, graceMs: number): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const { status, headers, body } = problemReply(refused);
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`, "Connection: close"];
  for (let index = 0; index < headers.length; index += 2) lines.push(`${headers[index]}: ${headers[index + 1]}`);
  const timer = setTimeout(() => socket.destroy(), graceMs);
  socket.once("close", () => clearTimeout(timer));
  socket.resume();
  socket.end(`${lines.join("\r\n")}\r\n\r\n${body}`);
}
