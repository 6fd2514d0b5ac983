// Runs a daemon in this process: opens everything in order, says that it is up, and takes it down again in the other order.

import { homedir } from "node:os";
import { resolve } from "node:path";

import type { RunningDaemon, UpOptions } from "../../host/host.ts";
import { redactor } from "../../core/redact.ts";
import { systemClock } from "../../engine/clock.ts";
import { ModelsConfig } from "../../model/models-config.ts";
import { openApiDocument } from "../../protocol/api/openapi-document.ts";
import { toTuttiError, TuttiError } from "../../protocol/error.ts";
import { loadConfig } from "../project/project-config.ts";
import { type RunningHttp, startHttp } from "../http/start-http.ts";
import { type Log, type LogLevel, logLevels, openLog } from "../log/log.ts";
import { type Notifier, startNotifier } from "../notify/start-notifier.ts";
import { openState } from "../state/open-state.ts";
import { projectFolder } from "../project/project-folder.ts";
import { collectSecrets } from "../secrets/collect-secrets.ts";
import type { State } from "../state/state.ts";
import { showComing } from "./coming-up.ts";
import { removeDaemonFile, writeDaemonFile } from "./daemon-file.ts";
import { daemonLogFile } from "./daemon-log.ts";
import { adminKeyFile, findDaemon } from "./find-daemon.ts";
import { defaultGraceMs } from "./grace.ts";
import { type ListenRuling, listenRuling } from "./listen-rules.ts";
import { ownName } from "./living-process.ts";
import { ownHosts } from "./own-hosts.ts";
import { type Stopping, stopping, type StopReason } from "./stop-reason.ts";
import { readTls, type TlsFiles } from "./tls-files.ts";

/** What closing may take after the grace time; then the process ends as it is, which loses nothing either. */
const closingMs = 15_000;

/** Where it listened the last time, so that operators and workers that come back find it. */
const portSetting = "port";

interface Serving {
  readonly folder: string;
  readonly from: string;
  readonly state: State;
  readonly log: Log;
  readonly stop: Stopping;
  readonly where: ListenRuling & { readonly ok: true };
  readonly tls: TlsFiles | undefined;
  readonly publicUrl: URL | undefined;
}

/** Resolves when it was stopped, throws what it ended with when it did not end well. */
export async function serveDaemon(options: UpOptions, onUp: (daemon: RunningDaemon) => void): Promise<void> {
  const folder = resolve(options.state);
  // What may not be is told before anything is touched.
  const where = ruled(options);
  const tls = options.tls === undefined ? undefined : readTls(options.tls);
  const publicUrl = options.publicUrl === undefined ? undefined : readPublicUrl(options.publicUrl);
  let redact: (text: string) => string = redactor(collectSecrets({ env: process.env, models: ModelsConfig.parse({}) }));
  const { log, close } = openLog({
    level: levelOf(options.logLevel),
    stderrFile: daemonLogFile(folder),
    pretty: process.stderr.isTTY,
    redact: (text) => redact(text),
  });
  const stop = stopping({
    graceMs: options.graceMs ?? defaultGraceMs,
    onError: (error) => log.fatal({ error }, "an error nobody took care of"),
  });
  let enough: NodeJS.Timeout | undefined;
  void stop.reason.then(({ graceMs }) => {
    enough = setTimeout(() => process.exit(1), graceMs + closingMs);
    enough.unref();
  });
  let came: (() => void) | undefined;
  try {
    if (where.warning !== undefined) log.warn({ host: where.host }, where.warning);
    const from = resolve(options.from);
    came = await showComing(folder);
    const state = await opening(folder, { from, log });
    redact = state.redact;
    try {
      const there = ruled(options, Number(state.records.setting(portSetting) ?? 0));
      await serve({ folder, from, state, log, stop, where: there, tls, publicUrl }, (daemon) => {
        came?.();
        onUp(daemon);
      });
    } finally {
      await state.close();
    }
  } finally {
    clearTimeout(enough);
    came?.();
    stop.close();
    close();
  }
}

function ruled(options: UpOptions, lastPort = 0): Serving["where"] {
  const ruling = listenRuling({
    ...(options.host === undefined ? {} : { host: options.host }),
    ...(options.port === undefined ? {} : { port: options.port }),
    tls: options.tls !== undefined,
    insecure: options.insecure === true,
    lastPort: lastPort > 0 ? lastPort : undefined,
  });
  if (!ruling.ok) throw new TuttiError(ruling.code, ruling.message);
  return ruling;
}

/** A state that is in use is said to be so by whom: a daemon can be talked to. */
async function opening(folder: string, options: { readonly from: string; readonly log: Log }): Promise<State> {
  try {
    return await openState(folder, options);
  } catch (thrown) {
    const error = toTuttiError(thrown);
    const daemon = error.code === "locked" ? await findDaemon(folder).catch(() => undefined) : undefined;
    if (daemon === undefined) throw error;
    const message = `a daemon works on ${folder} already: process ${daemon.pid} at ${daemon.url}; use it, or end it with \`tutti down\``;
    throw new TuttiError("locked", message, { cause: error, details: { ...daemon } });
  }
}

async function serve(serving: Serving, onUp: (daemon: RunningDaemon) => void): Promise<void> {
  const { folder, state, log, stop, tls } = serving;
  const offFailure = state.store.onCommit(() => {
    const error = state.store.failure;
    if (error !== undefined) stop.stop({ why: "store", graceMs: 0, error });
  });
  await state.keys.ensureAdmin(adminKeyFile(folder));
  let leaving: StopReason | undefined;
  const http = await listening(serving, () => leaving);
  const { instance, version, started_at } = await state.client.status();
  let notifier: Notifier | undefined;
  try {
    state.listening(serving.publicUrl?.origin ?? http.url);
    state.records.putSetting(portSetting, String(http.port));
    notifier = await notifying(serving);
    const { pid, start } = await ownName();
    writeDaemonFile(folder, {
      pid,
      process_start: start,
      url: http.url,
      instance,
      started_at,
      version,
      ...(tls === undefined ? {} : { certificate: tls.cert }),
    });
    log.info({ url: http.url, state: folder }, "up");
    onUp({ url: http.url, pid, version, started_at });
    leaving = await stop.reason;
    await windDown(serving, leaving);
  } finally {
    offFailure();
    await notifier?.close();
    // Before the port is free: whoever takes it next must not be taken for this daemon.
    removeDaemonFile(folder, instance);
    await http.close();
  }
  log.info({}, "down");
  if (leaving.error !== undefined) throw leaving.error;
}

/** Requests are answered meanwhile: the results of steps under way may come by them. */
async function windDown({ state, log }: Serving, { why, graceMs, error }: StopReason): Promise<void> {
  log.info({ why, grace_ms: graceMs }, "stopping");
  if (error !== undefined) log.fatal({ error }, error.message);
  if (state.store.failure !== undefined) return;
  const finished = await state.engine.drain(graceMs);
  if (!finished) log.warn({}, "some steps did not finish in time; their tasks go on at the next start");
}

/** As the project says that the daemon was started in. */
async function notifying({ state, log, from }: Serving): Promise<Notifier> {
  const { config } = await loadConfig(projectFolder(from, homedir()));
  const { store, records, view, feed, redact } = state;
  const parts = { store, records, view, feed, log, redact };
  return startNotifier({ ...parts, config: config.notifications, clock: systemClock, env: process.env });
}

/** The first of the ports that is free. */
async function listening(serving: Serving, leaving: () => StopReason | undefined): Promise<RunningHttp> {
  const { state, log, from, stop, where, tls, publicUrl } = serving;
  const [port = 0, ...others] = where.ports;
  try {
    return await startHttp({
      state,
      log,
      from,
      host: where.host,
      port,
      ...(tls === undefined ? {} : { tls }),
      allowedHosts: [
        ...(where.loopback ? [] : ownHosts(where.host, tls?.cert)),
        ...(publicUrl === undefined ? [] : [publicUrl.host]),
      ],
      // Behind a proxy that speaks TLS, our own pages come from there.
      allowedOrigins: publicUrl === undefined ? [] : [publicUrl.origin],
      openapi: openApiDocument,
      runners: [
        { kind: "local", runtime: "local" },
        { kind: "command", runtime: "command" },
        { kind: "operator", runtime: "operator" },
      ],
      // Loaded when asked for: running work needs no reader of definitions.
      project: async (folder) => (await import("../project/open-project.ts")).openProject(folder),
      notReady: () => (leaving() === undefined ? undefined : new TuttiError("stopped", "the service is stopping")),
      onShutdown: (graceMs = defaultGraceMs) => stop.stop({ why: "request", graceMs }),
    });
  } catch (thrown) {
    if (!(thrown instanceof TuttiError) || thrown.code !== "busy" || others.length === 0) throw thrown;
    log.info({ port }, "the port is in use; another is taken");
    return listening({ ...serving, where: { ...where, ports: others } }, leaving);
  }
}

/** Workers append paths to it, so it has none of its own. */
function readPublicUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if ((url?.protocol === "http:" || url?.protocol === "https:") && url.href === `${url.origin}/`) return url;
  throw new TuttiError("usage", `${text} is no public URL; give one like https://tutti.example, without a path`);
}

function levelOf(text = "info"): LogLevel {
  const level = logLevels.find((each) => each === text);
  if (level === undefined)
    throw new TuttiError("usage", `${text} is no log level; give one of ${logLevels.join(", ")}`);
  return level;
}
