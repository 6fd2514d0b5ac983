// `tutti up`: runs the daemon in this process, or starts it in a process of its own.
import { join } from "node:path";

import type { DatabaseOptions, Host, RunningDaemon, UpOptions } from "../../host/host.ts";
import type { ServiceStatus } from "../../protocol/api/service.ts";
import { errorTable, toTuttiError, TuttiError } from "../../protocol/error.ts";
import { warn } from "../terminal/output.ts";
import { note, standardOutput, writeJson, writeLine } from "../terminal/screen.ts";
import { bold, dim } from "../terminal/style.ts";
import { commandLine } from "../connect.ts";
import { givenFolder } from "../given-folder.ts";
import { stateFolder } from "../state-folder.ts";

export interface UpCommandOptions {
  readonly state?: string;
  readonly json?: boolean;
  readonly detach?: boolean;
  readonly host?: string;
  readonly port?: number;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly insecure?: boolean;
  readonly publicUrl?: string;
  readonly logLevel?: string;
  readonly grace?: number;
  readonly minFree?: number;
  readonly maxConnections?: number;
  readonly maxRequests?: number;
  readonly cwd?: string;
  readonly database?: string;
  readonly schema?: string;
  readonly node?: string;
  readonly label?: readonly string[];
  readonly lease?: number;
  readonly advertise?: string;
  readonly clusterKeyFile?: string;
  readonly project?: readonly string[];
  /** Plays the tour when the daemon is up. */
  readonly tour?: boolean;
  /** Ends after the tour. */
  readonly tourOnly?: boolean;
}

type Started = "here" | "detached" | "already";

const lingerMs = 2_000;

export async function upCommand(host: Host, options: UpCommandOptions): Promise<void> {
  const up = upOptions(options);
  const starting = showStarting(options);
  const found = await host.findDaemon(up.state);
  if (found?.command === true) throw servedByCommand(up.state, found);
  if (found !== undefined) {
    await printFound(host, found, options);
    return tourIfWanted(host, options);
  }
  if (options.detach === true) {
    const { daemon, existed } = await host.startDaemon(up);
    await (existed ? printFound(host, daemon, options) : print(host, daemon, { how: "detached", options }));
    return tourIfWanted(host, options);
  }
  // Printed while the daemon already runs; a failure to print must not end it.
  let printed: Promise<void> = Promise.resolve();
  const stopped = new AbortController();
  await host.runDaemon(up, (daemon) => {
    starting.end();
    printed = print(host, daemon, { how: "here", options })
      .then(() => tourIfWanted(host, options, stopped.signal))
      .catch((thrown: unknown) => {
        if (stopped.signal.aborted) return note("tutti: the tour was interrupted; the next one begins from the start");
        note(`tutti: up at ${daemon.url}, but ${toTuttiError(thrown).message}`);
        if (options.tourOnly === true) process.exitCode = errorTable[toTuttiError(thrown).code].exit;
      })
      .then(() => {
        if (options.tourOnly === true && !stopped.signal.aborted) process.kill(process.pid, "SIGTERM");
      });
  });
  stopped.abort();
  await printed;
  // Everything is closed and recorded: what is left, such as a timer of a project's own code, must not keep the process.
  setTimeout(() => {
    const left = process.getActiveResourcesInfo().join(", ");
    note(`tutti: all is closed and recorded; ended what still kept this process (${left})`);
    process.exit();
  }, lingerMs).unref();
}

/** A slow machine takes a while until the daemon is up, and a newcomer should see that something goes on. */
function showStarting(options: UpCommandOptions): { readonly end: () => void } {
  const isShown = wantsTour(options) && standardOutput.isTerminal && options.json !== true;
  if (isShown) standardOutput.write("starting …\n");
  return { end: () => standardOutput.eraseLines(isShown ? 1 : 0) };
}

function wantsTour({ tour, tourOnly }: UpCommandOptions): boolean {
  return tour === true || tourOnly === true;
}

async function tourIfWanted(host: Host, options: UpCommandOptions, signal?: AbortSignal): Promise<void> {
  if (!wantsTour(options)) return;
  const tutti = await host.connect(stateFolder(options.state));
  if (tutti === undefined) return;
  signal?.addEventListener("abort", () => void tutti.close());
  const { playTour } = await import("../tour/play-tour.ts");
  try {
    await playTour(tutti, options);
  } finally {
    await tutti.close();
  }
}

function servedByCommand(folder: string, { pid, url }: RunningDaemon): TuttiError {
  const message = `a command, process ${pid}, works on ${folder} and serves others at ${url} until its work is done; the daemon can be started then`;
  return new TuttiError("locked", message, { details: { pid, url } });
}

/** A daemon that listens elsewhere than it was asked to is not the one that the person wants. */
async function printFound(host: Host, daemon: RunningDaemon, options: UpCommandOptions): Promise<void> {
  const { port, protocol } = new URL(daemon.url);
  const actualPort = port === "" ? (protocol === "https:" ? 443 : 80) : Number(port);
  const wrong = [
    ...(options.port === undefined || options.port === 0 || options.port === actualPort
      ? []
      : [`on port ${actualPort}, not ${options.port}`]),
    ...(options.tlsCert === undefined || protocol === "https:" ? [] : ["without TLS"]),
  ];
  const stop = `stop it with \`${commandLine(options.state, "down")}\` first`;
  if (wrong.length > 0) {
    const message = `a daemon, process ${daemon.pid}, runs already at ${daemon.url}, ${wrong.join(" and ")}; use it there, or ${stop}`;
    throw new TuttiError("conflict", message, { details: { url: daemon.url, pid: daemon.pid } });
  }
  const ignored = Object.entries(startOnly).flatMap(([name, option]) =>
    Object.entries(options).some(([key, value]) => key === name && value !== undefined) ? [option] : [],
  );
  if (ignored.length > 0)
    warn(`the daemon runs already and keeps its own ${ignored.join(", ")}; to change that, ${stop}`);
  return print(host, daemon, { how: "already", options });
}

/** Options that take effect only when a daemon starts, and that a daemon which runs does not tell. */
const startOnly = {
  host: "--host",
  tlsCert: "--tls-cert",
  insecure: "--insecure",
  publicUrl: "--public-url",
  logLevel: "--log-level",
  grace: "--grace",
  minFree: "--min-free",
  maxConnections: "--max-connections",
  cwd: "--cwd",
  database: "--database",
  schema: "--schema",
  node: "--node",
  label: "--label",
  lease: "--lease",
  advertise: "--advertise",
  clusterKeyFile: "--cluster-key-file",
  project: "--project",
};

function databaseOptions(options: UpCommandOptions): DatabaseOptions {
  const { database: url, schema, node, label: labels, lease, advertise, clusterKeyFile: keyFile, project } = options;
  return {
    ...(url === undefined ? {} : { url }),
    ...(schema === undefined ? {} : { schema }),
    ...(node === undefined ? {} : { node }),
    ...(labels === undefined ? {} : { labels }),
    ...(lease === undefined ? {} : { leaseMs: Math.round(lease * 1_000) }),
    ...(advertise === undefined ? {} : { advertise }),
    ...(keyFile === undefined ? {} : { keyFile }),
    ...(project === undefined ? {} : { projects: project }),
  };
}

function upOptions(options: UpCommandOptions): UpOptions {
  const {
    host,
    port,
    tlsCert: cert,
    tlsKey: key,
    insecure,
    publicUrl,
    logLevel = wantsTour(options) ? "warn" : undefined,
    grace,
    minFree,
    maxConnections,
    maxRequests,
  } = options;
  if ((cert === undefined) !== (key === undefined)) {
    throw new TuttiError("usage", "TLS needs both --tls-cert FILE and --tls-key FILE");
  }
  return {
    state: stateFolder(options.state),
    database: databaseOptions(options),
    from: givenFolder(options.cwd),
    ...(host === undefined ? {} : { host }),
    ...(port === undefined ? {} : { port }),
    ...(cert === undefined || key === undefined ? {} : { tls: { cert, key } }),
    ...(insecure === undefined ? {} : { insecure }),
    ...(publicUrl === undefined ? {} : { publicUrl }),
    ...(logLevel === undefined ? {} : { logLevel }),
    ...(grace === undefined ? {} : { graceMs: Math.round(grace * 1_000) }),
    ...(minFree === undefined ? {} : { minFreeBytes: minFree * 1024 * 1024 }),
    ...(maxConnections === undefined ? {} : { maxConnections }),
    ...(maxRequests === undefined ? {} : { maxRequests }),
  };
}

async function print(
  host: Host,
  daemon: RunningDaemon,
  { how, options }: { readonly how: Started; readonly options: UpCommandOptions },
): Promise<void> {
  const folder = stateFolder(options.state);
  const status = await readStatus(host, folder);
  const key_file = join(folder, "admin.key");
  if (options.json === true) {
    const { url, pid, version, started_at } = daemon;
    const resumed = status?.resumed ?? 0;
    const all = { url, pid, version, started_at, state: folder, key_file, existed: how === "already", resumed };
    return writeJson(all);
  }
  const verb = how === "already" ? "already running at" : "up at";
  await writeLine(`${bold("tutti")} ${verb} ${bold(daemon.url)} ${dim(`(process ${daemon.pid}, ${daemon.version})`)}`);
  const lines = [
    ["state", folder],
    ["key", `${key_file}, readable by you alone; commands on this machine use it by themselves`],
    ["page", `\`${commandLine(options.state, "open")}\` shows the dashboard in your browser`],
    ["work", workText(status)],
    [
      "stop",
      `${how === "here" ? "Ctrl-C, or " : ""}\`${commandLine(options.state, "down")}\`; unfinished tasks go on at the next start`,
    ],
  ];
  for (const [name = "", text = ""] of lines) await writeLine(`  ${dim(name.padEnd(6))} ${text}`, { hang: 7 });
}

function workText(status: ServiceStatus | undefined): string {
  if (status === undefined) return "unknown";
  const { tasks, asks, resumed, paused } = status;
  const open = tasks.pending + tasks.running + tasks.input_required;
  const parts = [
    resumed === 0 ? `${open} unfinished tasks` : `${open} unfinished tasks, ${resumed} of them resumed`,
    ...(asks === 0 ? [] : [`${asks} waiting for an answer`]),
    ...(paused ? ["paused, nothing new begins until `tutti resume`"] : []),
  ];
  return open === 0 && !paused ? "nothing to do yet" : parts.join("; ");
}

async function readStatus(host: Host, folder: string): Promise<ServiceStatus | undefined> {
  const tutti = await host.connect(folder);
  try {
    return await tutti?.status();
  } finally {
    await tutti?.close();
  }
}
