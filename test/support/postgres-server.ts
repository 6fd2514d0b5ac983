// A PostgreSQL of the test's own: on a socket in a folder of its own, for the time of the process, without a port.

import { spawn, spawnSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

export interface PostgresServer {
  /** Without a schema: each test uses one of its own. */
  readonly url: string;
  readonly folder: string;
  /** Ends it at once, as a crash does, and starts it again on what is left. */
  crash(): void;
  start(): void;
  /** Ends its main process with SIGKILL; the others end when they notice. */
  kill(): void;
  /** Starts it after `kill`, as soon as the processes of the one before are gone. */
  startAfterKill(): Promise<void>;
  stop(): void;
}

/** The newest that is installed; undefined when there is none. */
export function postgresPrograms(): string | undefined {
  const root = "/usr/lib/postgresql";
  if (!existsSync(root)) return undefined;
  const versions = readdirSync(root).toSorted((a, b) => Number(b) - Number(a));
  return versions.map((version) => join(root, version, "bin")).find((bin) => existsSync(join(bin, "postgres")));
}

/** It refuses to run as root, so root runs it as the user that the package made. */
function ordinaryUser(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const idOf = (flag: string): number => Number(spawnSync("id", [flag, "postgres"], { encoding: "utf8" }).stdout);
  return { uid: idOf("-u"), gid: idOf("-g") };
}

export interface PostgresSettings {
  readonly fsync?: boolean;
  /** It also listens on this port of 127.0.0.1, with TLS. */
  readonly tls?: { readonly port: number; readonly cert: string; readonly key: string };
}

export function startPostgres({ fsync = false, tls }: PostgresSettings = {}): PostgresServer {
  const programs = postgresPrograms();
  if (programs === undefined) throw new Error("PostgreSQL is not installed");
  const user = ordinaryUser();
  const folder = mkdtempSync(join(tmpdir(), "tutti-pg-"));
  const data = join(folder, "data");
  mkdirSync(data, { mode: 0o700 });
  chmodSync(folder, 0o711);
  if (user.uid !== undefined && user.gid !== undefined)
    for (const each of [folder, data]) chownSync(each, user.uid, user.gid);
  const run = (program: string, args: readonly string[]): void => {
    const { status, stderr } = spawnSync(join(programs, program), args, { ...user, cwd: folder, encoding: "utf8" });
    if (status !== 0) throw new Error(`${program} failed: ${stderr}`);
  };
  run("initdb", ["-D", data, "-U", "tutti", "--auth=trust", "--no-sync", "-E", "UTF8", "--locale=C"]);
  const listening = tls === undefined ? ["-c", "listen_addresses="] : tlsSettings(tls, folder, user);
  const settings = [...listening, "-c", `unix_socket_directories=${folder}`, "-c", "max_connections=400"];
  const fast = fsync ? [] : ["-c", "fsync=off", "-c", "full_page_writes=off"];
  let server: ReturnType<typeof spawn> | undefined;
  const launch = (): ReturnType<typeof spawn> => {
    server = spawn(join(programs, "postgres"), ["-D", data, ...settings, ...fast, "-c", "shared_buffers=64MB"], {
      ...user,
      cwd: folder,
      stdio: "ignore",
    });
    server.unref();
    return server;
  };
  const isReady = (): boolean =>
    spawnSync(join(programs, "pg_isready"), ["-q", "-h", folder, "-p", String(tls?.port ?? 5432), "-U", "tutti"])
      .status === 0;
  const start = (): void => {
    launch();
    for (let tries = 0; tries < 600; tries += 1) {
      if (isReady()) return;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
    }
    throw new Error("PostgreSQL did not start");
  };
  const end = (signal: NodeJS.Signals): void => {
    const { pid } = server ?? {};
    if (pid === undefined) return;
    server = undefined;
    try {
      process.kill(pid, signal);
    } catch {
      return;
    }
    for (let tries = 0; tries < 400 && existsSync(join(data, "postmaster.pid")); tries += 1) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 25);
    }
  };
  const stop = (): void => {
    end("SIGINT");
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  process.once("exit", stop);
  start();
  return {
    url: `postgres://tutti@/postgres?host=${encodeURIComponent(folder)}${tls === undefined ? "" : `&port=${tls.port}`}`,
    folder,
    crash: () => end("SIGQUIT"),
    start,
    kill() {
      server?.kill("SIGKILL");
      server = undefined;
    },
    async startAfterKill() {
      for (let tries = 0; tries < 600; tries += 1, await sleep(50)) {
        // While processes of the one before are there, it refuses to start and ends.
        if (server === undefined || server.exitCode !== null || server.signalCode !== null) launch();
        else if (isReady()) return;
      }
      throw new Error("PostgreSQL did not start");
    },
    stop,
  };
}

/** The server reads its key only from a file of its own. */
function tlsSettings(
  { port, cert, key }: NonNullable<PostgresSettings["tls"]>,
  folder: string,
  { uid, gid }: { uid?: number; gid?: number },
): string[] {
  const files = { ssl_cert_file: join(folder, "server.pem"), ssl_key_file: join(folder, "server.key") };
  for (const [path, content] of [
    [files.ssl_cert_file, cert],
    [files.ssl_key_file, key],
  ] as const) {
    writeFileSync(path, content, { mode: 0o600 });
    if (uid !== undefined && gid !== undefined) chownSync(path, uid, gid);
  }
  const all = { listen_addresses: "127.0.0.1", port: String(port), ssl: "on", ...files };
  return Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
}
