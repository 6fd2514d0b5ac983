// Text that is being written at other nodes: asked for while somebody here listens.

import { createInterface } from "node:readline";
import { Readable } from "node:stream";

import { parseJson } from "../../protocol/json/parse-json.ts";
import { LiveDelta } from "../../protocol/task/event.ts";
import type { SharedByNodes } from "../state/kept-records.ts";
import type { LiveRelay } from "../state/live-relay.ts";
import type { OtherNode } from "./node-fetch.ts";

/** Only nodes may ask here: what is sent is of all tasks of this node. */
export const livePath = "/v1/nodes/live";

type OnLive = LiveRelay["on"];

/** How often it is looked for nodes that joined, and for connections that were lost. */
const lookEveryMs = 2_000;
/** A page that is loaded anew listens again at once. */
const lingerMs = 3_000;

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
