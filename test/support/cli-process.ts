// Real processes of the command line in a folder of their own: run to the end, or started, watched and signalled.

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";

const root = join(import.meta.dirname, "..", "..");
const bin = join(root, "bin", "tutti.js");
const patience = 240_000;

export interface Ended {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
}

export interface Started {
  readonly child: ChildProcess;
  /** Resolves when its standard error, or on a terminal everything, has the text. */
  said(wanted: RegExp): Promise<RegExpExecArray>;
  readonly ended: Promise<Ended>;
}

export interface Bench {
  readonly folder: string;
  readonly state: string;
  run(...args: readonly string[]): Ended;
  start(...args: readonly string[]): Started;
  /** On a terminal of its own, whose keyboard is the child's standard input. */
  onTerminal(...args: readonly string[]): Started;
  /** On a terminal that is so many columns wide. */
  onTerminalOf(columns: number, ...args: readonly string[]): Started;
  /** Writes an invocation to a file of the folder and returns its name. */
  file(name: string, content: unknown): string;
}

/** A folder with the examples in it, removed when the test ends; every command gets `--state`. There are no colours unless they are wanted, and the home folder is the person's own. */
export function bench(t: Pick<TestContext, "after">, { colors = false, home = "" } = {}): Bench {
  const folder = mkdtempSync(join(tmpdir(), "tutti-cli-"));
  const state = join(folder, "state");
  const running = new Set<ChildProcess>();
  const own = home === "" ? {} : { HOME: home };
  const env = { ...process.env, TUTTI_COMMAND: "tutti", NO_COLOR: colors ? "" : "1", ...own };
  const full = (args: readonly string[]): string[] => [bin, ...args, "--state", state];
  t.after(() => {
    for (const child of running) child.kill("SIGKILL");
    // A daemon that a command started outlives it.
    if (existsSync(join(state, "daemon.json"))) spawnSync(process.execPath, full(["down", "--force"]), { env });
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  cpSync(join(root, "examples"), join(folder, "examples"), { recursive: true });
  const watch = (command: string, args: readonly string[]): Started => {
    const child = spawn(command, args, { cwd: folder, env, stdio: "pipe" });
    running.add(child);
    child.on("exit", () => running.delete(child));
    return watched(child);
  };
  const onTerminal = (before: string, args: readonly string[]): Started => {
    // `<` and what follows it are for the shell.
    const at = args.indexOf("<");
    const [given, redirected] = at === -1 ? [args, []] : [args.slice(0, at), args.slice(at)];
    const words = [process.execPath, ...full(given)].map((word) => `'${word}'`);
    const quoted = [...words, ...redirected].join(" ");
    return watch("timeout", ["-s", "KILL", "30", "script", "-qec", `${before}${quoted}`, "/dev/null"]);
  };
  return {
    folder,
    state,
    run(...args) {
      const options = { cwd: folder, env, encoding: "utf8", input: "", timeout: patience } as const;
      const { status, stdout, stderr } = spawnSync(process.execPath, full(args), options);
      return { status, out: stdout, err: stderr };
    },
    start: (...args) => watch(process.execPath, full(args)),
    onTerminal: (...args) => onTerminal("", args),
    onTerminalOf: (columns, ...args) => onTerminal(`stty cols ${columns} rows 50; `, args),
    file(name, content) {
      writeFileSync(join(folder, name), JSON.stringify(content));
      return name;
    },
  };
}

function watched(child: ReturnType<typeof spawn>): Started {
  const heard = { out: "", err: "" };
  const lookers = new Set<() => void>();
  const hear = (channel: "out" | "err") => (chunk: Buffer) => {
    heard[channel] += chunk.toString();
    for (const look of lookers) look();
  };
  child.stdout?.on("data", hear("out"));
  child.stderr?.on("data", hear("err"));
  child.stdin?.on("error", () => undefined);
  const ended = new Promise<Ended>((resolve) => child.on("close", (status) => resolve({ status, ...heard })));
  const said = (wanted: RegExp): Promise<RegExpExecArray> =>
    new Promise((resolve, reject) => {
      const giveUp = setTimeout(
        () => reject(new Error(`never said ${String(wanted)}:\n${heard.out}\n${heard.err}`)),
        patience,
      );
      const look = (): void => {
        const found = wanted.exec(`${heard.err}${heard.out}`);
        if (found === null) return;
        clearTimeout(giveUp);
        lookers.delete(look);
        resolve(found);
      };
      lookers.add(look);
      void ended.then(() => {
        look();
        if (!lookers.has(look)) return;
        clearTimeout(giveUp);
        reject(new Error(`ended without ${String(wanted)}:\n${heard.out}\n${heard.err}`));
      });
      look();
    });
  return { child, said, ended };
}

export function jsonLines(text: string): unknown[] {
  return text
    .trimEnd()
    .split("\n")
    .map((line): unknown => JSON.parse(line));
}
