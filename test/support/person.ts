// A person with a folder, a home and terminals of one width, who types commands and looks at what they show.

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";

import { stopDaemon } from "../../src/daemon/lifecycle/stop-daemon.ts";
import { type TerminalScreen, terminalScreen } from "./terminal-screen.ts";

const bin = join(import.meta.dirname, "..", "..", "bin", "tutti.js");

export interface Terminal {
  readonly screen: TerminalScreen;
  /** The rows as one text. */
  readonly text: () => string;
  /** Waits until the terminal shows this, below whatever was waited for before. */
  sees(wanted: RegExp): Promise<RegExpExecArray>;
  /** Types a line and the Enter key. */
  types(line: string): void;
  /** Ctrl-C. */
  interrupts(): void;
  /** The exit status of the command. */
  readonly ended: Promise<number | null>;
}

export interface Person {
  readonly folder: string;
  readonly state: string;
  /** Writes a file in the folder and gives its name; anything but text is written as JSON. */
  file(name: string, content: unknown): string;
  read(name: string): string;
  /** The person's own config. */
  settings(config: unknown): void;
  /** Of the programs that are in its terminals now. */
  pids(): readonly number[];
  /** In a terminal of its own. */
  start(...args: readonly string[]): Terminal;
  /** To its end. Fails when it ends with another status. */
  run(status: number, ...args: readonly string[]): Promise<string>;
  /** The terminals so far. */
  readonly terminals: readonly Terminal[];
}

export const hasTerminals = spawnSync("sh", ["-c", "command -v script timeout stty"]).status === 0;

/** `commandMs`: how long one command may take; `patienceMs`: how long something may take to be shown. */
export function personAt(
  t: Pick<TestContext, "after">,
  columns: number,
  { patienceMs = 240_000, commandMs = 60_000 }: { readonly patienceMs?: number; readonly commandMs?: number } = {},
): Person {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "tutti-person-")));
  const folder = join(home, "work");
  const state = join(home, ".tutti");
  const running = new Set<ChildProcess>();
  const terminals: Terminal[] = [];
  mkdirSync(folder);
  t.after(async () => {
    for (const child of running) child.kill("SIGKILL");
    await stopDaemon(state, { force: true });
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  });
  // No key of a provider and no setting of whoever runs the tests.
  const env = {
    PATH: process.env["PATH"],
    HOME: home,
    TUTTI_COMMAND: "tutti",
    TERM: "xterm",
    LANG: "C.UTF-8",
    SHELL: "/bin/sh",
  };
  const start = (...args: readonly string[]): Terminal => {
    const words = [process.execPath, bin, ...args].map((word) => `'${word}'`).join(" ");
    const command = `stty cols ${columns} rows 24; ${words}`;
    const child = spawn("timeout", ["-s", "KILL", String(commandMs / 1_000), "script", "-qec", command, "/dev/null"], {
      cwd: folder,
      env,
    });
    running.add(child);
    child.on("exit", () => running.delete(child));
    const terminal = terminalOf(child, { columns, name: args.join(" "), patienceMs });
    terminals.push(terminal);
    return terminal;
  };
  return {
    folder,
    state,
    terminals,
    start,
    file(name, content) {
      writeFileSync(join(folder, name), typeof content === "string" ? content : JSON.stringify(content));
      return name;
    },
    settings(config) {
      mkdirSync(state, { recursive: true, mode: 0o700 });
      writeFileSync(join(state, "tutti.config.json"), JSON.stringify(config), { mode: 0o600 });
    },
    pids: () => [...running].flatMap(({ pid }) => pid ?? []),
    read: (name) => readFileSync(join(folder, name), "utf8"),
    async run(status, ...args) {
      const { ended, text } = start(...args);
      const actual = await ended;
      if (actual !== status) throw new Error(`${args.join(" ")} ended with ${actual}, not ${status}:\n${text()}`);
      return text();
    },
  };
}

interface TerminalOptions {
  readonly columns: number;
  readonly name: string;
  readonly patienceMs: number;
}

function terminalOf(child: ReturnType<typeof spawn>, { columns, name, patienceMs }: TerminalOptions): Terminal {
  const screen = terminalScreen(columns);
  const text = (): string => screen.rows().join("\n");
  const decoder = new TextDecoder();
  let look = (): void => undefined;
  let from = 0;
  child.stdout?.on("data", (chunk: Buffer) => {
    screen.write(decoder.decode(chunk, { stream: true }));
    look();
  });
  child.stdin?.on("error", () => undefined);
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
  const sees = (wanted: RegExp): Promise<RegExpExecArray> =>
    new Promise((resolve, reject) => {
      const fail = (why: string): void => {
        clearTimeout(timer);
        reject(new Error(`${name} ${why} ${String(wanted)}:\n${text()}`));
      };
      const timer = setTimeout(() => fail("never showed"), patienceMs);
      look = () => {
        const found = wanted.exec(text().slice(from));
        if (found === null) return;
        clearTimeout(timer);
        look = () => undefined;
        from += found.index + found[0].length;
        resolve(found);
      };
      void ended.then(() => {
        look();
        fail("ended without");
      });
      look();
    });
  return {
    screen,
    text,
    sees,
    types: (line) => void child.stdin?.write(`${line}\r`),
    interrupts: () => void child.stdin?.write("\u0003"),
    ended,
  };
}
