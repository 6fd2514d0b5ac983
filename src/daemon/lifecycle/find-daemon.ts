// Finds the daemon of a state folder and says whether it is really it, before the key is sent to anybody.

import { join } from "node:path";

import { z } from "zod";

import type { Tutti } from "../../client/client.ts";
import type { RunningDaemon } from "../../host/host.ts";
import { httpClient } from "../../client/http-client.ts";
import { TuttiError } from "../../protocol/error.ts";
import { readAdminKey } from "../state/admin-key.ts";
import { type DaemonFile, readDaemonFile } from "./daemon-file.ts";
import { lives, type ProcessName } from "./living-process.ts";
import { pinnedFetch } from "./pinned-fetch.ts";

export interface FoundDaemon {
  readonly daemon: RunningDaemon;
  readonly instance: string;
  readonly process: ProcessName;
  readonly key: string;
  readonly fetch: typeof fetch;
}

/** How long a daemon may take to say who it is. */
const patienceMs = 5_000;

/** The name of the admin key's file in a state folder. */
export const adminKeyFile = (folder: string): string => join(folder, "admin.key");

/**
 * The file alone proves nothing: its writer may be dead and somebody else's process at that port, which must not be sent
 * the key. So the process is looked for first, and only then asked. Throws `unreachable` when it lives and does not answer.
 */
export async function probeDaemon(folder: string): Promise<FoundDaemon | undefined> {
  const file = readDaemonFile(folder);
  if (file === undefined || !(await lives(processIn(file)))) return undefined;
  const key = readAdminKey(adminKeyFile(folder));
  if (key === undefined) {
    const message = `process ${file.pid} works on ${folder}, and its admin.key is gone; end it with \`tutti down --force\`, and the next start makes a new key`;
    throw new TuttiError("unauthorized", message);
  }
  const send = file.certificate === undefined ? fetch : pinnedFetch(file.certificate);
  const answer = await ask(file, key, send);
  if (answer === undefined || answer.instance !== file.instance) return undefined;
  const { pid, url, version, started_at, instance } = file;
  return { daemon: { url, pid, version, started_at }, instance, process: processIn(file), key, fetch: send };
}

export async function findDaemon(folder: string): Promise<RunningDaemon | undefined> {
  return (await probeDaemon(folder))?.daemon;
}

export async function connectDaemon(folder: string): Promise<Tutti | undefined> {
  const found = await probeDaemon(folder);
  return found === undefined ? undefined : clientOf(found);
}

export function clientOf({ daemon: { url }, key, fetch: send }: FoundDaemon): Tutti {
  return httpClient({ url, key, fetch: send });
}

export const processIn = ({ pid, process_start }: DaemonFile): ProcessName => ({ pid, start: process_start });

const Status = z.object({ instance: z.string() });

async function ask(file: DaemonFile, key: string, send: typeof fetch): Promise<{ instance: string } | undefined> {
  const init = {
    headers: { authorization: `Bearer ${key}` },
    redirect: "error" as const,
    signal: AbortSignal.timeout(patienceMs),
  };
  let status: number;
  let text: string;
  try {
    const response = await send(`${file.url}/v1/status`, init);
    status = response.status;
    text = await response.text();
  } catch (thrown) {
    if (!init.signal.aborted) return undefined;
    const message = `the daemon, process ${file.pid} at ${file.url}, does not answer; end it with \`tutti down --force\`, nothing that was acknowledged is lost`;
    throw new TuttiError("unreachable", message, { cause: thrown, details: { pid: file.pid, url: file.url } });
  }
  if (status === 401 || status === 403) {
    const message = `the daemon, process ${file.pid} at ${file.url}, does not take the key in admin.key; start it anew to make it take it`;
    throw new TuttiError("unauthorized", message);
  }
  return readStatus(text);
}

function readStatus(text: string): { instance: string } | undefined {
  try {
    return Status.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
