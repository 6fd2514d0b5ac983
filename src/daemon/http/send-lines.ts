// Sends JSON lines as fast as the caller reads them, and stops producing them when the caller is gone.

import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";

import { securityHeaders } from "./security-headers.ts";

const chunkLength = 64 * 1024;
/** How long the caller may read nothing at all before the connection is destroyed. */
const stallMs = 60_000;

export async function sendLines(
  request: IncomingMessage,
  response: ServerResponse,
  lines: AsyncIterable<string>,
): Promise<void> {
  response.writeHead(200, [...securityHeaders, "Content-Type", "application/x-ndjson"]);
  if (request.method === "HEAD") {
    response.end();
    return;
  }
  let chunk = "";
  for await (const line of lines) {
    // The caller may have gone while the line was read.
    if (response.destroyed) return;
    chunk += `${line}\n`;
    if (chunk.length < chunkLength) continue;
    if (!response.write(chunk) && !(await drained(response))) return;
    chunk = "";
  }
  response.end(chunk);
}

/** False when the caller is gone or has stalled. */
async function drained(response: ServerResponse): Promise<boolean> {
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  const timer = setTimeout(abort, stallMs);
  response.once("close", abort);
  try {
    await once(response, "drain", { signal: controller.signal });
    return true;
  } catch {
    response.destroy();
    return false;
  } finally {
    clearTimeout(timer);
    response.off("close", abort);
  }
}
