// Sends JSON lines as fast as they are taken, and stops making them when nobody is there any more.

import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";

import { strictHeaders } from "./reply.ts";

const pieceLength = 64 * 1024;
/** How long a reader may take nothing at all. */
const stallMs = 60_000;

export async function sendLines(
  request: IncomingMessage,
  response: ServerResponse,
  lines: Iterable<string>,
): Promise<void> {
  response.writeHead(200, [...strictHeaders, "Content-Type", "application/x-ndjson"]);
  if (request.method === "HEAD") {
    response.end();
    return;
  }
  let piece = "";
  for (const line of lines) {
    piece += `${line}\n`;
    if (piece.length < pieceLength) continue;
    if (!response.write(piece) && !(await drained(response))) return;
    piece = "";
  }
  response.end(piece);
}

async function drained(response: ServerResponse): Promise<boolean> {
  const given = new AbortController();
  const timer = setTimeout(() => given.abort(), stallMs);
  const gone = (): void => given.abort();
  response.once("close", gone);
  try {
    await once(response, "drain", { signal: given.signal });
    return true;
  } catch {
    response.destroy();
    return false;
  } finally {
    clearTimeout(timer);
    response.off("close", gone);
  }
}
