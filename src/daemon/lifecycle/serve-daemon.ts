// Runs a daemon in this process: opens everything in order, reports that it is up, and closes it in the reverse order.

import { homedir } from "node:os";
import { resolve } from "node:path";

import { ownPath } from "../../files/own-environment.ts";
import type { RunningDaemon, UpOptions } from "../../host/host.ts";
import { redactor } from "../../core/redaction/redact.ts";
import { systemClock } from "../../engine/clock.ts";
import { ModelsConfig } from "../../model/models-config.ts";
import { toTuttiError, TuttiError } from "../../protocol/error.ts";
import { type Log, type LogLevel, logLevels, openLog } from "../log/log.ts";
import { type Notifier, startNotifier } from "../notify/start-notifier.ts";
import { type OpenOptions, openState } from "../state/open-state.ts";
import { loadUserConfig } from "../project/user-config.ts";
import { collectSecrets } from "../secrets/collect-secrets.ts";
import { prepareNode } from "../cluster/prepare-node.ts";
import type { State } from "../state/state.ts";
import { removeDaemonFile, writeDaemonFile } from "./daemon-file.ts";
import { daemonLogFile } from "./daemon-log.ts";
import { defaultGraceMs } from "./default-grace.ts";
import { adminKeyFile, findDaemon } from "./find-daemon.ts";
import { lastPortOf, type ListenAt, listenForRequests } from "./listen-for-requests.ts";
import { type AcceptedListening, decideListening } from "./listen-rules.ts";
import { setOthersWait } from "./others-wait.ts";
import { ownProcess } from "./process-identity.ts";
import { writeStartupMarker } from "./startup-marker.ts";
import { listenForStop, type StopReason, type StopTrigger } from "./stop-trigger.ts";
import { watchStateFolder } from "./watch-state-folder.ts";
import { readTls } from "./tls-files.ts";

/** How long closing may take after the grace time. Then the process exits, which loses nothing that was acknowledged. */
const closingMs = 15_000;

/** How often the daemon looks whether it has to refuse new work, besides when work comes. */
const lookEveryMs = 5_000;

/** Why a node stops that does not have the new key of its cluster. Its tasks go on elsewhere, and none of them is to blame. */
const lostKey = "cluster key";

interface ServeContext {
  readonly folder: string;
  readonly from: string;
  readonly state: State;
  readonly log: Log;
  readonly stop: StopTrigger;
  readonly listenAt: ListenAt;
}

/** Resolves when the daemon was stopped. Throws the error it ended with, if there was one. */
export async function serveDaemon(options: UpOptions, onUp: (daemon: RunningDaemon) => void): Promise<void> {
  const folder = resolve(options.state);
  // Options that cannot be used are refused before anything is changed.
  readListen(options);
  const tls = options.tls === undefined ? undefined : readTls(options.tls);
  const { maxConnections, maxRequests } = options;
  const publicUrl = options.publicUrl === undefined ? undefined : readPublicUrl(options.publicUrl);
  let redact: (text: string) => string = redactor(collectSecrets({ env: process.env, models: ModelsConfig.parse({}) }));
  const { log, close: closeLog } = openLog({
    level: readLogLevel(options.logLevel),
    stderrFile: daemonLogFile(folder),
    pretty: process.stderr.isTTY,
    redact: (text) => redact(text),
  });
  const stop = listenForStop({
    graceMs: options.graceMs ?? defaultGraceMs,
    onError: (error) => log.fatal({ error }, "unhandled error"),
  });
  let forcedExit: NodeJS.Timeout | undefined;
  void stop.reason.then(({ graceMs }) => {
    forcedExit = setTimeout(() => process.exit(1), graceMs + closingMs);
    forcedExit.unref();
  });
  let removeMarker: (() => void) | undefined;
  try {
    const from = resolve(options.from);
    const own = collectSecrets({ env: process.env, models: ModelsConfig.parse({}) });
    const node = await prepareNode({
      folder,
      up: options,
      at: { host: readListen(options).host, certificate: tls?.cert ?? null, insecure: options.insecure === true },
      log,
      onSecrets: (secrets) => (redact = redactor([...secrets, ...own])),
    });
    removeMarker = await writeStartupMarker(folder);
    for (let life = 1, ended = false; !ended; life += 1) {
      const state = await openUnused(folder, { log, minFreeBytes: options.minFreeBytes, node });
      redact = state.redact;
      try {
        const listen = readListen(options, lastPortOf(state));
        if (listen.warning !== undefined) log.warn({ host: listen.host }, listen.warning);
        const listenAt = { ...listen, tls, publicUrl, maxConnections, maxRequests, advertise: node?.advertise };
        ended = await serve({ folder, from, state, log, stop, listenAt }, (daemon) => {
          removeMarker?.();
          if (life === 1) onUp(daemon);
        });
      } finally {
        await state.close();
      }
    }
  } finally {
    clearTimeout(forcedExit);
    removeMarker?.();
    stop.close();
    closeLog();
  }
}

/** If a daemon uses the state folder already, the error says where it listens. */
async function openUnused(folder: string, options: OpenOptions): Promise<State> {
  try {
    return await openState(folder, { ...options, resume: "later" });
  } catch (thrown) {
    const error = toTuttiError(thrown);
    const daemon = error.code === "locked" ? await findDaemon(folder).catch(() => undefined) : undefined;
    if (daemon === undefined) throw error;
    const message = `a daemon works on ${folder} already: process ${daemon.pid} at ${daemon.url}; use it, or stop it with \`tutti down\``;
    throw new TuttiError("locked", message, { cause: error, details: { ...daemon } });
  }
}

/** False when the node was declared dead by the others: it has to forget everything and join anew. */
async function serve(context: ServeContext, onUp: (daemon: RunningDaemon) => void): Promise<boolean> {
  const { folder, from, state, log, stop, listenAt } = context;
  const lost = Promise.withResolvers<StopReason>();
  let isLost = false;
  const unsubscribe = state.store.onCommit(() => {
    const error = state.store.failure;
    if (error === undefined) return;
    const reason = { why: "store", graceMs: 0, error };
    if (state.shared === undefined) stop.stop(reason);
    else {
      isLost = true;
      lost.resolve(reason);
    }
  });
  const stopFollowing = state.shared?.onKeyLost((error) => {
    stop.stop({ why: lostKey, graceMs: defaultGraceMs, error });
  });
  const stopWatching = logRefusals(state, log);
  const watched = watchStateFolder(folder, (error) => stop.stop({ why: "state folder", graceMs: 0, error }));
  await state.keys.ensureAdmin(adminKeyFile(folder));
  let stopping: StopReason | undefined | void;
  const http = await listenForRequests(listenAt, {
    state,
    from,
    log,
    notReady: () => (stopping === undefined ? undefined : new TuttiError("stopped", "the service is stopping")),
    onShutdown: (graceMs = defaultGraceMs) => stop.stop({ why: "request", graceMs }),
  });
  const { instance, version, started_at } = await state.client.status();
  let notifier: Notifier | undefined;
  try {
    notifier = await notify(context);
    const { pid, start } = await ownProcess();
    const certificate = listenAt.tls === undefined ? {} : { certificate: listenAt.tls.cert };
    const facts = { url: http.url, instance, started_at, version };
    writeDaemonFile(folder, { pid, process_start: start, ...facts, ...certificate });
    log.info({ url: http.url, state: folder }, "listening");
    // Only now: a task that hangs or ends the process must not keep the daemon from being found, asked and stopped.
    const stopped = Promise.race([stop.reason, lost.promise]);
    stopping = await Promise.race([stopped, state.resume()]);
    if (stopping === undefined) {
      setOthersWait(state, false);
      log.info({ url: http.url, state: folder }, "up");
      onUp({ url: http.url, pid, version, started_at, command: false });
      stopping = await stopped;
    }
    await drain(context, stopping);
  } catch (thrown) {
    throw watched.gone() ?? thrown;
  } finally {
    unsubscribe();
    stopFollowing?.();
    stopWatching();
    watched.close();
    await notifier?.close();
    // While the port is still ours: a program that gets it next must not be taken for this daemon.
    removeDaemonFile(folder, instance);
    await http.close();
  }
  if (isLost && stopping?.why === "store") {
    log.warn({}, "this node joins anew");
    return false;
  }
  log.info({}, "down");
  if (stopping?.error !== undefined) throw watched.gone() ?? stopping.error;
  return true;
}

/** Logs when new work begins to be refused, as on a full disk, and when it is taken again. */
function logRefusals({ store, engine }: State, log: Log): () => void {
  let refused = false;
  const look = (): void => {
    const cause = engine.halted === undefined ? engine.refusesWork : undefined;
    if ((cause !== undefined) === refused) return;
    refused = cause !== undefined;
    if (cause === undefined) log.info({}, "new work is taken again");
    else log.error({ error: cause }, `no new work is taken: ${cause.message}`);
  };
  const unsubscribe = store.onCommit(() => {
    if ((store.stalled !== undefined) !== refused) look();
  });
  const timer = setInterval(look, lookEveryMs);
  timer.unref();
  look();
  return () => {
    unsubscribe();
    clearInterval(timer);
  };
}

/** Lets running steps finish. Requests are still answered, because the results of steps may come with them. */
async function drain({ state, log }: ServeContext, { why, graceMs, error }: StopReason): Promise<void> {
  log.info({ why, grace_ms: graceMs }, "stopping");
  if (error !== undefined) log.fatal({ error }, error.message);
  if (state.store.failure !== undefined) return;
  const finished = await state.engine.drain(graceMs, { failed: error !== undefined && why !== lostKey });
  if (!finished) log.warn({}, "some steps did not finish in time; their tasks continue at the next start");
}

/** Notifies as the user's own config says: a project must not hear of the work in other projects. */
async function notify({ state, log }: ServeContext): Promise<Notifier> {
  const { notifications } = await loadUserConfig(homedir());
  const { store, view, records, feed, redact, shared } = state;
  const turn = shared === undefined ? {} : { takeTurn: () => shared.takeTurn("notices") };
  const parts = { store, view, records, feed, log, redact, ...turn };
  return startNotifier({
    ...parts,
    config: notifications,
    clock: systemClock,
    env: { ...process.env, PATH: ownPath() },
  });
}

function readListen(options: UpOptions, lastPort?: number): AcceptedListening {
  const decision = decideListening({
    ...(options.host === undefined ? {} : { host: options.host }),
    ...(options.port === undefined ? {} : { port: options.port }),
    tls: options.tls !== undefined,
    insecure: options.insecure === true,
    lastPort,
  });
  if (!decision.ok) throw new TuttiError(decision.code, decision.message);
  return decision;
}

/** Workers append paths to the URL, so it may have none of its own. */
function readPublicUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if ((url?.protocol === "http:" || url?.protocol === "https:") && url.href === `${url.origin}/`) return url;
  const message = `${text} cannot be used as public URL; give one like https://tutti.example, without a path`;
  throw new TuttiError("usage", message);
}

function readLogLevel(text = "info"): LogLevel {
  const level = logLevels.find((each) => each === text);
  if (level !== undefined) return level;
  throw new TuttiError("usage", `${text} is no log level; give one of ${logLevels.join(", ")}`);
}
