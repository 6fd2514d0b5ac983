// Starts a daemon in a process of its own and waits until it answers. Processes that do this at the same time get the same one.

import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";

import type { RunningDaemon, UpOptions } from "../../host/host.ts";
import { TuttiError } from "../../protocol/error.ts";
import { within } from "../../runner/shared/process/within.ts";
import { makeFolder } from "../../store/sqlite/database.ts";
import { clusterVariables } from "../cluster/cluster-environment.ts";
import { keepNodeSettings } from "../state/node-settings.ts";
import { type Lock, takeLock } from "../../store/sqlite/lock.ts";
import { type DaemonLog, openDaemonLog, startupError } from "./daemon-log.ts";
import { findDaemon } from "./find-daemon.ts";
import { readLockOwner } from "./lock-owner.ts";
import { pollUntil } from "./poll-until.ts";
import { isStarting, startFolder } from "./startup-marker.ts";

export interface StartedDaemon {
  readonly daemon: RunningDaemon;
  /** It was running already. */
  readonly existed: boolean;
}

/** How long a running process may take until it answers. Recovering a large state takes a while. */
const upMs = 60_000;
/** How long we wait for our own daemon to end when another one was first. */
const endMs = 5_000;

export async function startDaemon(options: UpOptions): Promise<StartedDaemon> {
  const folder = resolve(options.state);
  const found = await findDaemon(folder);
  if (found !== undefined) return { daemon: found, existed: true };
  makeFolder(folder);
  const turn = await takeStartLock(folder);
  if ("daemon" in turn) return turn;
  try {
    const now = await findDaemon(folder);
    return now === undefined ? await launch(folder, options) : { daemon: now, existed: true };
  } finally {
    turn.release();
  }
}

/** One process starts a daemon at a time, the others wait for it. The system frees the lock of a process that is killed. */
async function takeStartLock(folder: string): Promise<Lock | StartedDaemon> {
  const lockFolder = startFolder(folder);
  makeFolder(lockFolder);
  let lockedError: TuttiError | undefined;
  const taken = await pollUntil<Lock | StartedDaemon>(upMs, async () => {
    try {
      return takeLock(lockFolder);
    } catch (thrown) {
      if (!(thrown instanceof TuttiError) || thrown.code !== "locked") throw thrown;
      lockedError = thrown;
    }
    const daemon = await findDaemon(folder);
    return daemon === undefined ? undefined : { daemon, existed: true };
  });
  if (taken === undefined) throw lockedError ?? new TuttiError("locked", `${lockFolder} is in use`);
  return taken;
}

async function launch(folder: string, options: UpOptions): Promise<StartedDaemon> {
  // The daemon reads it there: the address of a database must not stand in the list of processes.
  keepNodeSettings(folder, options.database ?? {});
  const log = openDaemonLog(folder);
  let exited = false;
  try {
    const child = spawn(process.execPath, [commandFile(), ...upArguments(folder, options)], {
      cwd: folder,
      // What was taken out of our own environment is for the daemon alone.
      env: { ...process.env, ...clusterVariables() },
      detached: true,
      stdio: ["ignore", log.descriptor, log.descriptor],
      windowsHide: true,
    });
    const exit = childExit(child).then(() => (exited = true));
    const found = await pollUntil(upMs, async () => (exited ? "exited" : findDaemon(folder)));
    if (found === "exited") return await afterExit(folder, log);
    if (found === undefined) {
      const message = `the daemon, process ${child.pid}, is not up after ${upMs / 1000} s; ${log.path} says what it does`;
      throw new TuttiError("unreachable", message, { details: { pid: child.pid } });
    }
    if (found.pid === child.pid) return { daemon: found, existed: false };
    // Another daemon was first. Ours must not take over, unnoticed, when that one stops.
    child.kill("SIGTERM");
    await within(exit, endMs);
    return { daemon: found, existed: true };
  } finally {
    log.close();
  }
}

/** Another process may have taken the state folder before our daemon could. If that is a daemon, it is used. */
async function afterExit(folder: string, log: DaemonLog): Promise<StartedDaemon> {
  const other = await findDaemon(folder);
  if (other !== undefined) return { daemon: other, existed: true };
  const error = startupError(log);
  if (error.code !== "locked") throw error;
  const owner = readLockOwner(folder);
  const found = await pollUntil(upMs, async () => {
    const starting = owner !== undefined && (await isStarting(folder, owner.pid));
    return (await findDaemon(folder)) ?? (starting ? undefined : "no daemon");
  });
  if (found !== undefined && found !== "no daemon") return { daemon: found, existed: true };
  const who = owner === undefined ? "a process" : `process ${owner.pid}, since ${owner.since},`;
  const message = `${who} that is no daemon works on ${folder}, such as \`tutti invoke\`; wait for it, end it, or choose another folder with --state`;
  throw new TuttiError("locked", message, { cause: error });
}

/** Resolves when the child has exited or could not be started. The child does not keep this process alive. */
function childExit(child: ChildProcess): Promise<void> {
  child.unref();
  return new Promise((resolve) => {
    child.on("exit", () => resolve());
    child.on("error", () => resolve());
  });
}

/** It is beside the sources in a clone, and beside the bundle in an installed package. */
function commandFile(): string {
  const candidates = ["../../../bin/tutti.js", "../../bin/tutti.js"].map((each) =>
    fileURLToPath(new URL(each, import.meta.url)),
  );
  const found = candidates.find((each) => existsSync(each));
  if (found === undefined)
    throw new TuttiError("io", `neither ${candidates.join(" nor ")} exists; install tutti again`);
  return found;
}

/** The daemon prints its errors as JSON, so that they can be reported here with their code. */
function upArguments(folder: string, options: UpOptions): string[] {
  const { from, host, port, tls, insecure, publicUrl, logLevel, graceMs, minFreeBytes, maxConnections, maxRequests } =
    options;
  const { database } = options;
  const given = {
    state: folder,
    cwd: resolve(from),
    host,
    port,
    "tls-cert": tls === undefined ? undefined : resolve(tls.cert),
    "tls-key": tls === undefined ? undefined : resolve(tls.key),
    "public-url": publicUrl,
    "log-level": logLevel,
    grace: graceMs === undefined ? undefined : graceMs / 1000,
    "min-free": minFreeBytes === undefined ? undefined : minFreeBytes / (1024 * 1024),
    "max-connections": maxConnections,
    "max-requests": maxRequests,
    "cluster-key-file": database?.keyFile === undefined ? undefined : resolve(database.keyFile),
  };
  const named = Object.entries(given).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}`, `${value}`],
  );
  return ["up", "--json", ...named, ...(insecure === true ? ["--insecure"] : [])];
}
