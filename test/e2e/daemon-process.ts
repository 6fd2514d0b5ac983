// A real daemon in a process of its own on a state folder of its own: started, killed, stopped, started again at the same address.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import type { Tutti } from "../../src/client/client.ts";
import { httpClient } from "../../src/client/http-client.ts";
import { readDaemonFile } from "../../src/daemon/lifecycle/daemon-file.ts";
import { insideOf, onSmallDisk, seenBy } from "../support/small-disk.ts";

const bin = join(import.meta.dirname, "..", "..", "bin", "tutti.js");
const patienceMs = 240_000;
const lookEveryMs = 10;

export interface DaemonOptions {
  /** Besides what every test daemon gets. */
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  /** Puts the state folder on a file system of its own with this many bytes. */
  readonly diskBytes?: number;
}

type Exit = number | NodeJS.Signals | null;

interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Exit>;
  /** Set when it has ended. */
  exit?: Exit;
}

export class DaemonProcess {
  /** Holds the state folder, and is the home and the working folder of the daemon. */
  readonly folder = mkdtempSync(join(tmpdir(), "tutti-e2e-"));
  readonly state = join(this.folder, "state");
  readonly #options: DaemonOptions;
  readonly #clients = new Set<Tutti>();
  #running: Running | undefined;
  #port = 0;
  #output = "";

  constructor(options: DaemonOptions = {}) {
    this.#options = options;
    mkdirSync(this.state, { mode: 0o700 });
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  get pid(): number {
    const pid = this.#running?.child.pid;
    if (pid === undefined) throw new Error("the daemon is not running");
    return pid;
  }

  /** The state folder as this process can look into it. A file system of its own is seen by the daemon alone. */
  get seenState(): string {
    return this.#options.diskBytes === undefined ? this.state : seenBy(insideOf(this.pid), this.state);
  }

  /** The key made at the first start. */
  get key(): string {
    return readFileSync(join(this.seenState, "admin.key"), "utf8").trim();
  }

  /** Everything any of its processes has printed. */
  get output(): string {
    return this.#output;
  }

  /** With the daemon's own key unless another is given. */
  client(key = this.key): Tutti {
    const client = httpClient({ url: this.url, key, giveUpAfterMs: patienceMs });
    this.#clients.add(client);
    return client;
  }

  /** Starts a process and does not wait for it to be up. */
  launch(): void {
    if (this.#running !== undefined) throw new Error("the daemon runs already");
    const args = [bin, "up", "--state", this.state, "--port", String(this.#port), ...(this.#options.args ?? [])];
    const env = {
      PATH: process.env["PATH"],
      HOME: this.folder,
      TUTTI_COMMAND: "tutti",
      NO_COLOR: "1",
      ...this.#options.env,
    };
    const { diskBytes } = this.#options;
    const plain: [string, string[]] = [process.execPath, args];
    const [command, all] = diskBytes === undefined ? plain : onSmallDisk(this.state, diskBytes, plain.flat());
    const child = spawn(command, all, { cwd: this.folder, env, stdio: ["ignore", "pipe", "pipe"] });
    const hear = (chunk: Buffer): void => void (this.#output += chunk.toString());
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    const ended = once(child, "close").then(([code, signal]: Exit[]): Exit => signal ?? code ?? null);
    const running: Running = { child, ended };
    this.#running = running;
    void ended.then((exit) => (running.exit = exit));
  }

  /** Resolves when the launched process takes work. */
  async ready(): Promise<void> {
    const running = this.#running;
    if (running === undefined) throw new Error("the daemon was not launched");
    for (const until = Date.now() + patienceMs; Date.now() < until; await sleep(lookEveryMs)) {
      if (running.exit !== undefined) {
        throw new Error(`the daemon ended with ${running.exit} before it was up:\n${this.#output.slice(-4_000)}`);
      }
      const file = readDaemonFile(this.seenState);
      const pid = this.#options.diskBytes === undefined ? running.child.pid : insideOf(this.pid);
      if (file === undefined || file.pid !== pid) continue;
      this.#port = Number(new URL(file.url).port);
      if (await this.#isReady()) return;
    }
    throw new Error(`the daemon was not up after ${patienceMs} ms:\n${this.#output.slice(-4_000)}`);
  }

  async up(): Promise<this> {
    this.launch();
    await this.ready();
    return this;
  }

  /** `kill -9`. */
  async kill(): Promise<void> {
    await this.#signal("SIGKILL");
  }

  /** As a person or a service manager stops it; gives what it ended with. */
  async stop(): Promise<Exit> {
    return this.#signal("SIGTERM");
  }

  /** Waits for it to end by itself. */
  async ended(): Promise<Exit> {
    const exit = await this.#running?.ended;
    this.#running = undefined;
    return exit ?? null;
  }

  /** Killed in whatever it was doing, and started again. */
  async restartKilled(): Promise<void> {
    await this.kill();
    await this.up();
  }

  async close(): Promise<void> {
    for (const client of this.#clients) await client.close();
    await this.kill();
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }

  async #isReady(): Promise<boolean> {
    try {
      const { ok } = await fetch(`${this.url}/readyz`, { signal: AbortSignal.timeout(240_000) });
      return ok;
    } catch {
      return false;
    }
  }

  async #signal(signal: NodeJS.Signals): Promise<Exit> {
    const running = this.#running;
    if (running === undefined) return null;
    running.child.kill(signal);
    const exit = await Promise.race([running.ended, sleep(patienceMs, "late" as const, { ref: false })]);
    if (exit === "late") throw new Error(`the daemon did not end after ${signal}:\n${this.#output.slice(-4_000)}`);
    this.#running = undefined;
    return exit;
  }
}

/** One that is up, and gone with its folder when the test ends. */
export async function daemonFor(t: Pick<TestContext, "after">, options?: DaemonOptions): Promise<DaemonProcess> {
  const daemon = new DaemonProcess(options);
  t.after(() => daemon.close());
  return daemon.up();
}
