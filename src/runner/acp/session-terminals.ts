// Serves the terminal requests of a session: programs that run confined in its folders, without the network and without its keys.

import { inLine, quoted, quotedCommand } from "../../core/foreign-words.ts";
import { TuttiError } from "../../protocol/error.ts";
import { keptOutput } from "../command/kept-output.ts";
import { workdirOf } from "../command/resolve-command.ts";
import { defaultGraceMs, endProcesses, type ProcessNote } from "../shared/process/end-processes.ts";
import type { PreparedProgram } from "../shared/confined-program.ts";
import { type HeldProcess, startHeld } from "../shared/process/held-process.ts";
import { variableProblem } from "../shared/process/launcher.ts";
import type { Approver } from "./approver.ts";
import { CreateTerminalRequest, TerminalRequest } from "./acp-frames.ts";

/** How a program is started that a session asks for. */
export interface TerminalPlace {
  readonly roots: readonly string[];
  readonly offLimits: readonly string[];
  readonly confined: boolean;
  /** Finds the program in Tutti's own PATH, with the environment that programs of the session have. */
  prepare(command: readonly [string, ...string[]], cwd: string): Promise<PreparedProgram>;
  /** The idempotency key of the step. */
  readonly step: string;
  /** Durable when it resolves. Called with all programs of the session that may run. */
  note(processes: readonly ProcessNote[]): Promise<void>;
}

interface Terminal {
  readonly held: HeldProcess;
  readonly output: ReturnType<typeof keptOutput>;
  exit: { readonly exitCode: number | null; readonly signal: string | null } | undefined;
}

const mostTerminals = 16;
const defaultOutput = 2 ** 20;
const mostOutput = 4 * 2 ** 20;
const leastOutput = 1_024;
const mostVariables = 200;

export class SessionTerminals {
  readonly #place: TerminalPlace;
  readonly #approver: Approver;
  readonly #terminals = new Map<string, Terminal>();
  #count = 0;
  #isOver = false;

  constructor(place: TerminalPlace, approver: Approver) {
    this.#place = place;
    this.#approver = approver;
  }

  get isRunning(): boolean {
    return [...this.#terminals.values()].some(({ exit }) => exit === undefined);
  }

  async create(params: unknown): Promise<{ readonly terminalId: string }> {
    const request = CreateTerminalRequest.parse(params);
    if (this.#terminals.size >= mostTerminals) {
      throw new TuttiError("refused", `a session has at most ${mostTerminals} terminals; release one first`);
    }
    const { roots, offLimits, confined } = this.#place;
    const cwd = await workdirOf(request.cwd ?? undefined, { roots, offLimits });
    const words = commandWords(request);
    const env = variables(request);
    const verdict = await this.#approver.decide({
      tool: "acp.terminal",
      effect: { effects: confined ? ["execute"] : ["execute", "network"], confined },
      question: () => terminalQuestion(words, env, { cwd, confined }),
      details: { command: words, cwd, env },
    });
    if (!verdict.allowed) throw new TuttiError("refused", verdict.reason);
    const { launcher, argv, env: plain } = await this.#place.prepare(words, cwd);
    this.#count += 1;
    const id = `terminal-${this.#count}`;
    const step = `${this.#place.step}/${id}`;
    if (this.#isOver) throw sessionOver();
    const held = await startHeld({ program: { argv, env: { ...plain, ...env } }, launcher, cwd, step });
    const output = keptOutput(Math.min(Math.max(request.outputByteLimit ?? defaultOutput, leastOutput), mostOutput));
    const terminal: Terminal = { held, output, exit: undefined };
    // The session may have ended meanwhile, and nobody would end the program any more.
    if (this.#isOver) {
      await end(terminal, 0);
      throw sessionOver();
    }
    this.#terminals.set(id, terminal);
    for (const stream of [held.stdout, held.stderr]) stream.on("data", (chunk: Buffer) => output.add(chunk));
    void held.exited.then(({ code, signal }) => (terminal.exit = { exitCode: code, signal }));
    await this.#note();
    held.release();
    held.stdin.end();
    return { terminalId: id };
  }

  #note(): Promise<void> {
    return this.#place.note([...this.#terminals.values()].map(({ held }) => held.note));
  }

  #find(params: unknown): { readonly id: string; readonly terminal: Terminal } {
    const { terminalId: id } = TerminalRequest.parse(params);
    const terminal = this.#terminals.get(id);
    if (terminal === undefined) throw new TuttiError("not_found", `there is no terminal ${id}`);
    return { id, terminal };
  }

  output(params: unknown): Readonly<Record<string, unknown>> {
    const { output, exit } = this.#find(params).terminal;
    return { output: output.text(), truncated: output.truncated, exitStatus: exit ?? null };
  }

  async waitForExit(params: unknown): Promise<Readonly<Record<string, unknown>>> {
    const { code, signal } = await this.#find(params).terminal.held.exited;
    return { exitCode: code, signal };
  }

  async kill(params: unknown): Promise<null> {
    await end(this.#find(params).terminal);
    return null;
  }

  async release(params: unknown): Promise<null> {
    const { id, terminal } = this.#find(params);
    await end(terminal);
    this.#terminals.delete(id);
    return null;
  }

  /** Ends everything. Returns the pids that could not be ended. */
  async endAll(graceMs: number): Promise<number[]> {
    this.#isOver = true;
    const left = await Promise.all([...this.#terminals.values()].map((each) => end(each, graceMs)));
    return left.flat();
  }
}

function sessionOver(): TuttiError {
  return new TuttiError("canceled", "the session is over");
}

async function end({ held }: Terminal, graceMs = defaultGraceMs): Promise<readonly number[]> {
  const { left } = await endProcesses(held.note, { graceMs });
  held.letGo();
  return left;
}

/** A command with blanks and without arguments is a line for the shell. */
function commandWords({ command, args }: CreateTerminalRequest): [string, ...string[]] {
  const rest = args ?? [];
  if (command.trim() === "") throw new TuttiError("invalid_input", "a terminal needs a command");
  return rest.length === 0 && /\s/.test(command.trim()) ? ["/bin/sh", "-c", command] : [command, ...rest];
}

/** What cannot be passed on as it is named is refused: a program that lacks a variable may do something else. */
function variables({ env }: CreateTerminalRequest): Readonly<Record<string, string>> {
  const named = new Map<string, string>();
  for (const { name, value } of env ?? []) {
    const problem = named.has(name) ? "is named twice" : variableProblem(name, value);
    if (problem !== undefined) {
      throw new TuttiError("invalid_input", `the variable ${JSON.stringify(name.slice(0, 100))} ${problem}`);
    }
    named.set(name, value);
  }
  if (named.size > mostVariables) {
    throw new TuttiError("invalid_input", `a terminal gets at most ${mostVariables} variables from its session`);
  }
  return Object.fromEntries(named);
}

function terminalQuestion(
  words: readonly string[],
  env: Readonly<Record<string, string>>,
  { cwd, confined }: { readonly cwd: string; readonly confined: boolean },
): string {
  const reach = confined ? "It is confined to the task's folders." : "It is not confined to the task's folders.";
  return [
    `May the session run this program? ${reach}`,
    "command:",
    quotedCommand(words),
    ...variableLines(env),
    `folder: ${inLine(cwd)}`,
  ].join("\n");
}

/** Each on one line, whatever its value: a value could otherwise pass for a further variable. */
function variableLines(env: Readonly<Record<string, string>>): string[] {
  const lines = Object.entries(env).map(([name, value]) => quoted(`${name}=${JSON.stringify(value)}`));
  return lines.length === 0
    ? []
    : ["variables that the session sets, which can make a program load other code:", ...lines];
}
