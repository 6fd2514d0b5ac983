// Finds the daemon of a state folder, and makes sure that it is this daemon before sending it the admin key.

import { join } from "node:path";

import { z } from "zod";

import type { Tutti } from "../../client/client.ts";
import { httpClient } from "../../client/http-client.ts";
import { parseJson } from "../../protocol/json/parse-json.ts";
import type { RunningDaemon } from "../../host/host.ts";
import { refuseSharedFolder } from "../../files/private-folder.ts";
import { TuttiError } from "../../protocol/error.ts";
import { readAdminKey } from "../state/admin-key.ts";
import { type DaemonFile, readDaemonFile } from "./daemon-file.ts";
import { pollUntil } from "./poll-until.ts";
import { isRunning, type ProcessIdentity } from "./process-identity.ts";
import { fetchOf, refoundFetch } from "./refound-fetch.ts";

export interface FoundDaemon {
  readonly daemon: RunningDaemon;
  readonly instance: string;
  readonly process: ProcessIdentity;
  /** It answers, and does not take work yet. */
  readonly starting: boolean;
  readonly key: string;
  readonly fetch: typeof fetch;
}

/** How long a daemon may take to answer. */
const answerTimeoutMs = 5_000;
/** How long we wait for a daemon that answers to take up its unfinished work. */
const startingMs = 10_000;

export const adminKeyFile = (folder: string): string => join(folder, "admin.key");

/**
 * Returns undefined if no daemon works on the folder. daemon.json alone proves nothing: its writer may have been killed,
 * and another program may listen at that port now, which must not be sent the key. So the process is checked first. Throws
 * `unreachable` if the process runs and does not answer.
 */
export async function probeDaemon(folder: string): Promise<FoundDaemon | undefined> {
  refuseSharedFolder(folder);
  const file = readDaemonFile(folder);
  if (file === undefined || !(await isRunning(processIn(file)))) return undefined;
  const key = readAdminKey(adminKeyFile(folder));
  if (key === undefined) {
    const message = `process ${file.pid} works on ${folder}, but its admin.key is gone; kill it with \`tutti down --force\`, and the next start makes a new key`;
    throw new TuttiError("unauthorized", message);
  }
  const status = await askStatus(file, key, fetchOf(file));
  if (status === undefined || status.instance !== file.instance) return undefined;
  const { pid, url, version, started_at, instance, command = false } = file;
  return {
    daemon: { url, pid, version, started_at, command },
    instance,
    process: processIn(file),
    starting: status.starting,
    key,
    fetch: refoundFetch(folder, file),
  };
}

export async function findDaemon(folder: string): Promise<RunningDaemon | undefined> {
  return (await probeDaemon(folder))?.daemon;
}

/** A daemon that is stopped takes its file with it; one that was killed, or whose machine was, leaves it. */
export async function lastDaemon(folder: string): Promise<"running" | "crashed" | "stopped"> {
  const file = readDaemonFile(folder);
  if (file === undefined) return "stopped";
  return (await isRunning(processIn(file))) ? "running" : "crashed";
}

/** Waits a while for a daemon that is starting, so that work can be given to it. */
export async function connectDaemon(folder: string): Promise<Tutti | undefined> {
  const found = await probeDaemon(folder);
  if (found === undefined) return undefined;
  const client = clientOf(found);
  if (found.starting) await pollUntil(startingMs, async () => ((await client.status()).starting ? undefined : true));
  return client;
}

export function clientOf({ daemon: { url }, key, fetch: send }: FoundDaemon): Tutti {
  return httpClient({ url, key, fetch: send });
}

/** Sends requests to whichever process works on the folder at that time, as its owner. */
export async function daemonFetch(
  folder: string,
): Promise<((path: string, init: RequestInit) => Promise<Response>) | undefined> {
  const found = await probeDaemon(folder);
  if (found === undefined) return undefined;
  const { daemon, key, fetch: send } = found;
  return (path, init) => send(`${daemon.url}${path}`, withKey(init, key));
}

/** The key must not follow a redirect to somebody else. */
function withKey(init: RequestInit, key: string): RequestInit {
  const headers = new Headers(init.headers);
  headers.set("authorization", `Bearer ${key}`);
  return { ...init, headers, redirect: "error" };
}

export const processIn = ({ pid, process_start }: DaemonFile): ProcessIdentity => ({ pid, start: process_start });

const Status = z.object({ instance: z.string(), starting: z.boolean().default(false) });

/** Returns undefined if nobody listens there, or somebody who is not a daemon. */
async function askStatus(
  file: DaemonFile,
  key: string,
  send: typeof fetch,
): Promise<z.infer<typeof Status> | undefined> {
  const init = {
    headers: { authorization: `Bearer ${key}` },
    redirect: "error" as const,
    signal: AbortSignal.timeout(answerTimeoutMs),
  };
  let status: number;
  let text: string;
  try {
    const response = await send(`${file.url}/v1/status`, init);
    status = response.status;
    text = await response.text();
  } catch (thrown) {
    if (!init.signal.aborted) return undefined;
    const message = `the daemon, process ${file.pid} at ${file.url}, does not answer; kill it with \`tutti down --force\`: nothing that was acknowledged is lost`;
    throw new TuttiError("unreachable", message, { cause: thrown, details: { pid: file.pid, url: file.url } });
  }
  if (status === 401 || status === 403) {
    const message = `the daemon, process ${file.pid} at ${file.url}, does not accept the key in admin.key; restart it, and it will`;
    throw new TuttiError("unauthorized", message);
  }
  return Status.safeParse(parseJson(text)).data;
}
