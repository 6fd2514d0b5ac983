// A fetch that goes to the process that works on a state folder now: the next one may listen at another port.

import { type DaemonFile, readDaemonFile } from "./daemon-file.ts";
import { pinnedFetch } from "./pinned-fetch.ts";
import { isRunning } from "./process-identity.ts";

/** A process that was seen this short a time ago is not looked for again, unless a request to it failed. */
const seenMs = 1_000;

/**
 * Sends requests that were made for `file.url` to the process that is in daemon.json. The process is looked for again
 * before a request, because the port of one that has ended may belong to a stranger, who must not be sent the key.
 */
export function refoundFetch(folder: string, file: DaemonFile): typeof fetch {
  const madeFor = file.url;
  let known = file;
  let send = fetchOf(file);
  let seenAt = performance.now();

  async function lookAgain(): Promise<void> {
    const found = readDaemonFile(folder);
    if (found === undefined || !(await isRunning({ pid: found.pid, start: found.process_start }))) {
      throw new TypeError("fetch failed", { cause: new Error(`no process works on ${folder}`) });
    }
    if (found.instance !== known.instance) {
      known = found;
      send = fetchOf(found);
    }
    seenAt = performance.now();
  }

  return async (input, init) => {
    if (performance.now() - seenAt > seenMs) await lookAgain();
    const wanted = input instanceof Request ? input.url : String(input);
    const url = wanted.startsWith(madeFor) ? `${known.url}${wanted.slice(madeFor.length)}` : wanted;
    try {
      return await send(input instanceof Request ? new Request(url, input) : url, init);
    } catch (thrown) {
      seenAt = -Infinity;
      throw thrown;
    }
  };
}

export function fetchOf({ certificate }: DaemonFile): typeof fetch {
  return certificate === undefined ? fetch : pinnedFetch(certificate);
}
