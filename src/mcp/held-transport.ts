// The transport to a server that is a process: started held and noted before it runs, read no faster than it may write, ended with all that it started.

import { type JSONRPCMessage, parseJSONRPCMessage, type Transport } from "@modelcontextprotocol/client";

import { escapeControls } from "../core/escape-controls.ts";
import { readBoundedJson } from "../protocol/json/bounded-json.ts";
import { TuttiError } from "../protocol/error.ts";
import { endProcesses } from "../runner/shared/process/end-processes.ts";
import { type HeldProcess, startHeld } from "../runner/shared/process/held-process.ts";
import type { Launcher, Program } from "../runner/shared/process/launcher.ts";

const longestMessage = 8 * 2 ** 20;
const bounds = { maxLength: longestMessage, maxDepth: 200, maxValues: 1_000_000 };
const mostUnread = 32 * 2 ** 20;
/** A server may send so many messages at once, and so many in each second after that. */
const burst = 1_000;
const perSecond = 200;
const keptOfErrors = 2_000;
const endGraceMs = 1_000;

export interface ServerLaunch {
  readonly program: Program;
  readonly launcher: Launcher | undefined;
  readonly cwd: string;
  /** Names the processes of this server. */
  readonly key: string;
  /** Makes a note of the process that is on disk when it resolves, and returns what forgets it. */
  readonly note: (process: HeldProcess["note"]) => Promise<() => void>;
}

export class HeldTransport implements Transport {
  /** With these two, the SDK sees that it speaks with a local process. */
  readonly stderr = null;
  get pid(): number | null {
    return this.#held?.note.pid ?? null;
  }
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: Transport["onmessage"];
  readonly #launch: ServerLaunch;
  #held: HeldProcess | undefined;
  #forget: (() => void) | undefined;
  #closing: Promise<void> | undefined;
  #allowance = burst;
  #countedAt = performance.now();
  #lastErrors = "";
  /** Why the connection was ended from this side. */
  problem: TuttiError | undefined;

  constructor(launch: ServerLaunch) {
    this.#launch = launch;
  }

  async start(): Promise<void> {
    const { program, launcher, cwd, key, note } = this.#launch;
    const held = await startHeld({ program, launcher, cwd, step: key });
    this.#held = held;
    try {
      this.#forget = await note(held.note);
    } catch (thrown) {
      held.letGo();
      throw thrown;
    }
    held.stderr.on("data", (chunk: Buffer) => {
      this.#lastErrors = `${this.#lastErrors}${chunk.toString("utf8", 0, keptOfErrors)}`.slice(-keptOfErrors);
    });
    void this.#read(held).catch((thrown: unknown) => this.#fail(thrown));
    void held.exited.then(() => this.close());
    held.release();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const held = this.#held;
    if (held === undefined || this.#closing !== undefined) throw new TuttiError("unreachable", "the server has ended");
    held.stdin.write(`${JSON.stringify(message)}\n`);
    if (held.stdin.writableLength > mostUnread) this.#fail(new TuttiError("io", "the server does not read"));
  }

  /** Ends the process and everything that it started. */
  close(): Promise<void> {
    return (this.#closing ??= this.#end());
  }

  /** For when this process ends: what is left then is ended at the next start, by its note. */
  killNow(): void {
    const { note } = this.#held ?? {};
    if (note === undefined || this.#closing !== undefined) return;
    try {
      process.kill(-note.group, "SIGKILL");
    } catch {
      // It has ended already.
    }
    void this.close();
  }

  /** The last lines that the server wrote to its standard error. */
  get lastErrors(): string {
    return escapeControls(this.#lastErrors.trim()).split("\n").slice(-3).join(" | ").slice(-500);
  }

  async #end(): Promise<void> {
    const held = this.#held;
    if (held !== undefined) {
      held.stdin.end();
      await endProcesses(held.note, { graceMs: endGraceMs });
      held.letGo();
    }
    this.#forget?.();
    this.onclose?.();
  }

  #fail(thrown: unknown): void {
    this.problem ??= thrown instanceof TuttiError ? thrown : new TuttiError("io", String(thrown));
    this.onerror?.(this.problem);
    void this.close();
  }

  async #read(held: HeldProcess): Promise<void> {
    let parts: Buffer[] = [];
    let length = 0;
    for await (const chunk of held.stdout) {
      let rest = Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk));
      for (let end = rest.indexOf(0x0a); end !== -1; end = rest.indexOf(0x0a)) {
        parts.push(rest.subarray(0, end));
        rest = rest.subarray(end + 1);
        await this.#take(Buffer.concat(parts).toString());
        parts = [];
        length = 0;
      }
      parts.push(rest);
      length += rest.length;
      if (length > longestMessage)
        throw new TuttiError("too_large", `the server sent more than ${longestMessage} bytes in one line`);
    }
  }

  async #take(line: string): Promise<void> {
    if (line.trim() === "" || this.#closing !== undefined) return;
    this.#count();
    const read = readBoundedJson(line, bounds);
    // Servers print to their output what belongs elsewhere; it is no message, and nothing is done because of it.
    if (!read.ok) return this.onerror?.(new Error(`the server sent a line that is no message (${read.fault})`));
    const message = messageIn(read.value);
    if (message === undefined) return this.onerror?.(new Error("the server sent a line that is no message"));
    this.onmessage?.(message);
    // Everything else here goes on between two messages, however fast the server writes.
    await new Promise((resolve) => setImmediate(resolve));
  }

  #count(): void {
    const now = performance.now();
    this.#allowance = Math.min(burst, this.#allowance + ((now - this.#countedAt) / 1000) * perSecond) - 1;
    this.#countedAt = now;
    if (this.#allowance < 0) throw new TuttiError("slow_down", "the server sends more messages than anybody can read");
  }
}

function messageIn(value: unknown): JSONRPCMessage | undefined {
  try {
    return parseJSONRPCMessage(value);
  } catch {
    return undefined;
  }
}
