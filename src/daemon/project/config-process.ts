// The process in which a config that is code runs: started when it is needed, ended when it hangs, and started anew after a crash.

import { type ChildProcess, fork } from "node:child_process";
import { Socket } from "node:net";
import { extname } from "node:path";

import type { StepToolContext } from "../../agent/tools/tool.ts";
import { escapeControls } from "../../core/escape-controls.ts";
import { TuttiError } from "../../protocol/error.ts";
import { errorOfFailure } from "../../protocol/failure.ts";
import type { ConfigFiles } from "./config-files.ts";
import { type CallReply, ConfigReply, type ConfigRequest, type ToolDescription } from "./config-messages.ts";

/** How long a config may take to load. */
const defaultLoadMs = 10_000;
/** How long a call may go on after its own time limit or a cancel before it counts as hanging. */
const graceMs = 2_000;
/** After this time without a call, the process of a config that was replaced is ended. */
const idleMs = 60_000;

export type LoadedCode = ConfigReply & { readonly kind: "loaded" };

export interface CalledCode extends Pick<ToolDescription, "name" | "timeout_ms"> {
  readonly of: "tools" | "runners";
}

/** A call or a workflow that the process has not ended yet. */
interface Pending {
  readonly reject: (error: unknown) => void;
  readonly handle: (reply: CallReply) => void;
}

/** What a workflow in the process does with Tutti, and Tutti with it. */
export interface ProcessTalk {
  /** Called with every message about the workflow except its end. */
  readonly heard: (reply: CallReply) => void;
  readonly signal: AbortSignal;
}

/** The process ended under a workflow, which can begin again in the next one. */
export class LostProcess extends TuttiError {}

/** How often a process with a workflow is asked whether it still listens, and how often it may be silent in a row. */
const beats = { everyMs: 10_000, most: 6 };

interface Running {
  readonly child: ChildProcess;
  readonly loaded: Promise<LoadedCode>;
  readonly calls: Map<number, Pending>;
  /** Workflows among the calls. */
  workflows: number;
  /** How often in a row it did not answer. */
  silent: number;
  /** Ends the process; whoever waits for it fails with this error. */
  readonly end: (error: TuttiError) => void;
}

export class ConfigProcess {
  readonly #files: ConfigFiles;
  readonly #taken: readonly string[];
  readonly #loadMs: number;
  readonly #beats: typeof beats;
  #running: Running | undefined;
  #lastCall = 0;
  #idle: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(
    files: ConfigFiles,
    options: { readonly taken: readonly string[]; readonly loadMs?: number; readonly beats?: typeof beats },
  ) {
    this.#files = files;
    this.#taken = options.taken;
    this.#loadMs = options.loadMs ?? defaultLoadMs;
    this.#beats = options.beats ?? beats;
  }

  /** Throws `invalid_input` when the config cannot be loaded. */
  async load(): Promise<LoadedCode> {
    if (this.#closed) throw new TuttiError("stopped", `${this.#files.file} is no longer in use`);
    const running = (this.#running ??= this.#start());
    return holding(running, () => running.loaded);
  }

  /** Runs a tool of the config, or a task with a runner of it. */
  async call(
    called: CalledCode,
    input: unknown,
    { step, rights }: Pick<StepToolContext, "step" | "rights">,
  ): Promise<unknown> {
    await this.load();
    const running = this.#running;
    if (running === undefined) throw this.#ended("it ended before the call");
    const id = ++this.#lastCall;
    const send = (request: ConfigRequest): void => void running.child.send(request, () => undefined);
    let aborted: (() => void) | undefined;
    const timers: NodeJS.Timeout[] = [];
    try {
      return await holding(
        running,
        () =>
          new Promise((resolve, reject) => {
            const handle = (reply: CallReply): void => {
              if (reply.kind === "progress") step.live("output", reply.text);
              else if (reply.kind === "result") resolve(reply.value);
              else if (reply.kind === "failed") reject(errorOfFailure(reply.failure));
            };
            running.calls.set(id, { reject, handle });
            aborted = () => {
              send({ kind: "abort", id });
              timers.push(setTimeout(() => reject(step.signal.reason), graceMs));
            };
            if (step.signal.aborted) aborted();
            step.signal.addEventListener("abort", aborted, { once: true });
            timers.push(setTimeout(() => running.end(this.#hangs(called)), called.timeout_ms + graceMs));
            const { of, name } = called;
            send({ kind: "call", id, of, name, input, key: step.key, roots: [...rights.roots] });
          }),
      );
    } finally {
      running.calls.delete(id);
      for (const timer of timers) clearTimeout(timer);
      if (aborted !== undefined) step.signal.removeEventListener("abort", aborted);
    }
  }

  /**
   * Runs a workflow of the config: sends the request that `begin` makes, and resolves with what the workflow returns. It may
   * take days, so there is no time limit, but the process must go on listening. Rejects with `LostProcess` when it ends.
   */
  async run(
    begin: (id: number, send: (request: ConfigRequest) => void) => ProcessTalk & { readonly request: ConfigRequest },
  ): Promise<unknown> {
    await this.load();
    const running = this.#running;
    if (running === undefined) throw this.#ended("it ended before the workflow began");
    const id = ++this.#lastCall;
    const send = (request: ConfigRequest): void => void running.child.send(request, () => undefined);
    const { request, heard, signal } = begin(id, send);
    let grace: NodeJS.Timeout | undefined;
    let aborted: (() => void) | undefined;
    running.workflows += 1;
    try {
      return await holding(
        running,
        () =>
          new Promise((resolve, reject) => {
            const handle = (reply: CallReply): void => {
              if (reply.kind === "result") resolve(reply.value);
              else if (reply.kind === "failed") reject(errorOfFailure(reply.failure));
              else heard(reply);
            };
            running.calls.set(id, { reject, handle });
            aborted = () => {
              send({ kind: "abort", id });
              grace = setTimeout(() => reject(signal.reason), graceMs);
            };
            if (signal.aborted) aborted();
            signal.addEventListener("abort", aborted, { once: true });
            send(request);
          }),
      );
    } finally {
      running.workflows -= 1;
      running.calls.delete(id);
      clearTimeout(grace);
      if (aborted !== undefined) signal.removeEventListener("abort", aborted);
    }
  }

  /** The config was replaced: trees that began with it may still call its tools, so its process ends when it is idle. */
  retire(): void {
    this.#idle ??= setInterval(() => {
      if (this.#running?.calls.size === 0) this.#running.end(this.#ended("it was idle"));
    }, idleMs).unref();
  }

  close(): void {
    this.#closed = true;
    clearInterval(this.#idle);
    this.#running?.end(this.#ended("Tutti has stopped"));
  }

  #start(): Running {
    const { file, files, packageFiles, folder } = this.#files;
    const program = new URL(`./config-child${extname(import.meta.url)}`, import.meta.url);
    const child = fork(program, [], {
      serialization: "advanced",
      execArgv: [],
      cwd: folder,
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    let last = "";
    for (const output of [child.stdout, child.stderr]) {
      output?.setEncoding("utf8").on("data", (text: string) => (last = `${last}${pass(text)}`.slice(-300)));
    }
    const calls = new Map<number, Pending>();
    const listening = setInterval(() => {
      if (running.workflows === 0) return;
      running.silent += 1;
      if (running.silent > this.#beats.most)
        end(this.#ended("a workflow or tool in it did not let it listen any more"));
      else child.send({ kind: "ping" } satisfies ConfigRequest, () => undefined);
    }, this.#beats.everyMs).unref();
    let over: TuttiError | undefined;
    let fail: (error: TuttiError) => void = () => undefined;
    const loaded = new Promise<LoadedCode>((resolve, reject) => {
      const late = setTimeout(() => {
        end(new TuttiError("invalid_input", `${file} cannot be used: it took longer than ${this.#loadMs} ms to load`));
      }, this.#loadMs);
      fail = (error) => {
        clearTimeout(late);
        reject(error);
      };
      child.on("message", (message) => {
        const parsed = ConfigReply.safeParse(message);
        if (!parsed.success) return end(this.#ended("it sent what cannot be read"));
        const { data } = parsed;
        if (data.kind === "unusable") {
          return end(new TuttiError("invalid_input", `${file} cannot be used: ${data.message.split("\n")[0] ?? ""}`));
        }
        if (data.kind === "loaded") {
          clearTimeout(late);
          return resolve(data);
        }
        running.silent = 0;
        if (data.kind !== "pong") calls.get(data.id)?.handle(data);
      });
    });
    loaded.catch(() => undefined);
    const settle = (error: TuttiError): void => {
      if (this.#running?.child === child) this.#running = undefined;
      clearInterval(listening);
      fail(error);
      for (const call of calls.values()) call.reject(error);
      calls.clear();
    };
    const end = (error: TuttiError): void => {
      over ??= error;
      child.kill("SIGKILL");
      settle(over);
    };
    child.on("error", (cause) => end(this.#ended(cause.message)));
    child.on("exit", (code, signal) => {
      const how = signal === null ? `it ended with status ${code}` : `it was ended by ${signal}`;
      settle(over ?? this.#ended(last.trim() === "" ? how : `${how}: ${last.trim()}`));
    });
    child.send(
      { kind: "load", file, files: Object.fromEntries([...files, ...packageFiles]), taken: [...this.#taken] },
      () => undefined,
    );
    const running: Running = { child, loaded, calls, end, workflows: 0, silent: 0 };
    keepAlive(running, false);
    return running;
  }

  #ended(how: string): TuttiError {
    const message = `the process that runs ${this.#files.file} is gone: ${how}; the next call starts it anew`;
    return new LostProcess("step_failed", message, { retry: "unknown" });
  }

  #hangs({ of, name, timeout_ms }: CalledCode): TuttiError {
    const message = `the ${of === "tools" ? "tool" : "runner"} ${name} of ${this.#files.file} did not end within its ${timeout_ms} ms, so its process was ended`;
    return new LostProcess("deadline", message, { retry: "unknown" });
  }
}

const users = new WeakMap<ChildProcess, number>();

/** While somebody waits for the process, it keeps Tutti's own process alive; otherwise it does not. */
async function holding<T>(running: Running, work: () => Promise<T>): Promise<T> {
  const { child } = running;
  users.set(child, (users.get(child) ?? 0) + 1);
  keepAlive(running, true);
  try {
    return await work();
  } finally {
    const left = (users.get(child) ?? 1) - 1;
    users.set(child, left);
    if (left === 0) keepAlive(running, false);
  }
}

function keepAlive({ child }: Pick<Running, "child">, alive: boolean): void {
  const sockets = [child.stdout, child.stderr].filter((output) => output instanceof Socket);
  for (const handle of [child, child.channel, ...sockets]) {
    if (alive) handle?.ref();
    else handle?.unref();
  }
}

/** What a config prints goes to standard error, where a terminal can only show it. */
function pass(text: string): string {
  const safe = escapeControls(text);
  process.stderr.write(safe);
  return safe;
}
