// Text that is being written at other nodes: asked for while somebody here listens, and given to other nodes that ask.

import type { IncomingMessage, ServerResponse } from "node:http";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";

import { toTuttiError } from "../../protocol/error.ts";
import { parseJson } from "../../protocol/json/parse-json.ts";
import { LiveDelta } from "../../protocol/task/event.ts";
import type { HttpError } from "../http/http-error.ts";
import { securityHeaders } from "../http/security-headers.ts";
import type { SharedByNodes } from "../state/kept-records.ts";
import type { LiveRelay } from "../state/live-relay.ts";
import type { OtherNode } from "./node-fetch.ts";
import { nodeTokenHeader } from "./node-token.ts";

/** Only nodes may ask here: what is sent is of all tasks of this node. */
export const livePath = "/v1/nodes/live";

type OnLive = LiveRelay["on"];

/** How often it is looked for nodes that joined, and for connections that were lost. */
const lookEveryMs = 2_000;
/** A page that is loaded anew listens again at once. */
const lingerMs = 3_000;
/** Live text is for looking on: what another node cannot take at once is left out. */
const mostWaiting = 1024 * 1024;

/** Listening here hears every node. `own`: what this node writes itself. */
export function liveOfAllNodes(own: OnLive, shared: Pick<SharedByNodes, "others" | "fetchFrom">): OnLive {
  const listeners = new Set<(delta: LiveDelta) => void>();
  let stop: (() => void) | undefined;
  let lingering: NodeJS.Timeout | undefined;
  const tell = (delta: LiveDelta): void => listeners.forEach((listener) => listener(delta));
  return (listener) => {
    const offOwn = own(listener);
    listeners.add(listener);
    clearTimeout(lingering);
    stop ??= listenToOthers(shared, tell);
    return () => {
      offOwn();
      if (!listeners.delete(listener) || listeners.size > 0) return;
      lingering = setTimeout(() => {
        stop?.();
        stop = undefined;
      }, lingerMs).unref();
    };
  };
}

function listenToOthers(
  { others, fetchFrom }: Pick<SharedByNodes, "others" | "fetchFrom">,
  tell: (delta: LiveDelta) => void,
): () => void {
  const stopped = new AbortController();
  const heard = new Set<number>();
  const listenTo = async (node: OtherNode): Promise<void> => {
    const response = await fetchFrom(node)(livePath, { signal: stopped.signal });
    if (!response.ok || response.body === null) return;
    const lines = createInterface({ input: Readable.fromWeb(response.body), crlfDelay: Number.POSITIVE_INFINITY });
    for await (const line of lines) {
      const { data } = LiveDelta.safeParse(parseJson(line));
      if (data !== undefined) tell(data);
    }
  };
  const look = async (): Promise<void> => {
    for (const node of await others()) {
      if (heard.has(node.incarnation)) continue;
      heard.add(node.incarnation);
      // A node that cannot be reached, or has ended, is tried again at the next look if it still lives.
      listenTo(node)
        .catch(() => undefined)
        .finally(() => heard.delete(node.incarnation));
    }
  };
  const lookNow = (): void => void look().catch(() => undefined);
  const timer = setInterval(lookNow, lookEveryMs).unref();
  lookNow();
  return () => {
    clearInterval(timer);
    stopped.abort();
  };
}

export interface LiveSource {
  readonly shared: Pick<SharedByNodes, "checkToken">;
  /** What this node writes itself, without what it hears from others. */
  readonly own: OnLive;
}

/** Sends what is written here to another node until either of them has enough. */
export function sendLive(
  source: LiveSource,
  request: IncomingMessage,
  response: ServerResponse,
): HttpError | undefined {
  const token = request.headers[nodeTokenHeader];
  try {
    source.shared.checkToken(typeof token === "string" ? token : undefined, {
      method: request.method ?? "",
      path: request.url ?? "",
    });
  } catch (thrown) {
    return { cause: toTuttiError(thrown) };
  }
  response.writeHead(200, [...securityHeaders, "Content-Type", "application/x-ndjson; charset=utf-8"]);
  response.flushHeaders();
  const off = source.own((delta) => {
    if (response.writableLength < mostWaiting) response.write(`${JSON.stringify(delta)}\n`);
  });
  response.once("close", off);
  return undefined;
}
