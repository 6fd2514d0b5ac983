// Starts a daemon in a process of its own and waits until it answers; whoever starts one at the same time gets the same one.

import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import type { RunningDaemon, UpOptions } from "../../host/host.ts";
import { TuttiError } from "../../protocol/error.ts";
import { within } from "../../runner/process/within.ts";
import { makeFolder } from "../../store/sqlite/database.ts";
import { type Lock, takeLock } from "../../store/sqlite/lock.ts";
import { isComing, startFolder } from "./coming-up.ts";
import { type DaemonLog, lastWords, openDaemonLog } from "./daemon-log.ts";
import { findDaemon } from "./find-daemon.ts";
import { lockOwner } from "./lock-owner.ts";

export interface StartedDaemon {
  readonly daemon: RunningDaemon;
  /** It was running already. */
  readonly existed: boolean;
}

/** Recovering a large state takes a while; a process that lives is given this long. */
const upMs = 60_000;
/** One that lost to another is waited for this long to end. */
const otherMs = 5_000;
const pollMs = 50;

export async function startDaemon(options: UpOptions): Promise<StartedDaemon> {
  const folder = resolve(options.state);
  const found = await findDaemon(folder);
  if (found !== undefined) return { daemon: found, existed: true };
  makeFolder(folder);
  const turn = await takeTurn(folder);
  if ("daemon" in turn) return turn;
  try {
    const now = await findDaemon(folder);
    return now === undefined ? await launch(folder, options) : { daemon: now, existed: true };
  } finally {
    turn.release();
  }
}

/** One starts at a time; the others wait for what comes of it. The system frees the turn of one that is killed. */
async function takeTurn(folder: string): Promise<Lock | StartedDaemon> {
  const place = startFolder(folder);
  makeFolder(place);
  for (const until = Date.now() + upMs; ; await sleep(pollMs)) {
    try {
      return takeLock(place);
    } catch (thrown) {
      if (!(thrown instanceof TuttiError) || thrown.code !== "locked" || Date.now() >= until) throw thrown;
    }
    const daemon = await findDaemon(folder);
    if (daemon !== undefined) return { daemon, existed: true };
  }
}

async function launch(folder: string, options: UpOptions): Promise<StartedDaemon> {
  const log = openDaemonLog(folder);
  let ended = false;
  try {
    const child = spawn(process.execPath, [commandFile(), ...upArguments(folder, options)], {
      cwd: folder,
      detached: true,
      stdio: ["ignore", log.descriptor, log.descriptor],
      windowsHide: true,
    });
    const end = ending(child).then(() => (ended = true));
    for (const until = Date.now() + upMs; !ended && Date.now() < until; await Promise.race([end, sleep(pollMs)])) {
      const daemon = await findDaemon(folder);
      if (daemon === undefined) continue;
      if (daemon.pid === child.pid) return { daemon, existed: false };
      // It would take the state as soon as the other lets go of it, and nobody would know.
      child.kill("SIGTERM");
      await within(end, otherMs);
      return { daemon, existed: true };
    }
    if (ended) return await afterEnd(folder, log);
    const message = `the daemon, process ${child.pid}, is not up after ${upMs / 1000} s; ${log.path} says what it does`;
    throw new TuttiError("unreachable", message, { details: { pid: child.pid } });
  } finally {
    log.close();
  }
}

/** Another process may have taken the state between our look and the child's: if it is a daemon, that one is used. */
async function afterEnd(folder: string, log: DaemonLog): Promise<StartedDaemon> {
  const other = await findDaemon(folder);
  if (other !== undefined) return { daemon: other, existed: true };
  const why = lastWords(log);
  if (why.code !== "locked") throw why;
  const owner = lockOwner(folder);
  for (const until = Date.now() + upMs; Date.now() < until; await sleep(pollMs)) {
    const coming = owner !== undefined && (await isComing(folder, owner.pid));
    const daemon = await findDaemon(folder);
    if (daemon !== undefined) return { daemon, existed: true };
    if (!coming) break;
  }
  const who = owner === undefined ? "a process" : `process ${owner.pid}, since ${owner.since},`;
  const message = `${who} that is no daemon works on ${folder}, such as \`tutti invoke\`; wait for it, end it, or choose another folder with --state`;
  throw new TuttiError("locked", message, { cause: why });
}

/** Resolves when it has ended or could not be started; it does not keep this process alive. */
function ending(child: ChildProcess): Promise<void> {
  child.unref();
  return new Promise((resolve) => {
    child.on("exit", () => resolve());
    child.on("error", () => resolve());
  });
}

/** Beside the sources in a clone, beside the bundle in an installed package. */
function commandFile(): string {
  const places = ["../../../bin/tutti.js", "../../bin/tutti.js"].map((each) =>
    fileURLToPath(new URL(each, import.meta.url)),
  );
  const found = places.find((each) => existsSync(each));
  if (found === undefined) throw new TuttiError("io", `${places.join(" and ")} are not there; install tutti again`);
  return found;
}

/** Its errors as JSON, so that they can be told here as what they are. */
function upArguments(folder: string, options: UpOptions): string[] {
  const { from, host, port, tls, insecure, publicUrl, logLevel, graceMs } = options;
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
  };
  const named = Object.entries(given).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}`, `${value}`],
  );
  return ["up", "--json", ...named, ...(insecure === true ? ["--insecure"] : [])];
}
