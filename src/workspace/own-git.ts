// Tutti's own git: it works on a noted git folder, starts no program that a repository names, and is bounded in output and time.

import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";

import { withoutInherited } from "../files/inherited-descriptors.ts";
import { ownEnvironment } from "../files/own-environment.ts";
import { TuttiError } from "../protocol/error.ts";
import { gitFailure, gitNotStarted } from "./git-failure.ts";
import { alternatesOf } from "./object-alternates.ts";
import {
  confinedSettings,
  furtherPrograms,
  type GitSettings,
  noPrograms,
  readSettings,
  safeSettings,
} from "./git-settings.ts";

/** Makes a command run confined: the command may write only to the folders named. */
export type Confine = (command: {
  readonly argv: readonly [string, ...string[]];
  readonly cwd: string;
  readonly writable: readonly string[];
  /** Folders that the command must be able to read, wherever they lie. */
  readonly readable: readonly string[];
}) => readonly [string, ...string[]];

export interface ObjectStore {
  readonly folder: string;
  readonly alternates: readonly string[];
}

export interface GitRun {
  /** The git folder of one checkout, where its own HEAD or index is meant. The shared git folder when absent. */
  readonly gitDir?: string;
  /** The folder whose files are meant. Without it git sees no files, and so no attributes that they set. */
  readonly workTree?: string;
  readonly index?: string;
  readonly objects?: ObjectStore;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  /** Open files to use instead of pipes. */
  readonly stdin?: number;
  readonly stdout?: number;
  /** Exit statuses that are outcomes, not failures. */
  readonly expected?: readonly number[];
  readonly maxBytes?: number;
  /** What to do with more output than that; `fail` when absent. */
  readonly overflow?: "fail" | "cut";
  readonly timeoutMs?: number;
  /** How much memory git may take, as far as the system limits it. */
  readonly maxMemoryBytes?: number;
  readonly signal?: AbortSignal | undefined;
  /** Runs git confined, with the filters that the person configured. */
  readonly confined?: { readonly confine: Confine; readonly writable: readonly string[] };
}

export interface GitOutput {
  readonly code: number;
  readonly stdout: Buffer;
  readonly stderr: string;
  readonly isCut: boolean;
}

export interface OwnGit {
  /** The git folder that all worktrees of the repository share. */
  readonly gitDir: string;
  readonly settings: GitSettings;
  /** Throws a TuttiError when git fails. */
  run(args: readonly string[], options?: GitRun): Promise<GitOutput>;
  /** The output as text, without the line break at its end. */
  text(args: readonly string[], options?: GitRun): Promise<string>;
  /** The output of a command with `-z`. */
  list(args: readonly string[], options?: GitRun): Promise<string[]>;
}

const mostBytes = 64 * 1024 * 1024;
const mostErrorBytes = 16 * 1024;
const defaultTimeoutMs = 10 * 60_000;
const graceMs = 2_000;
/** A few objects can stand for billions of files, of which git would keep a list. */
const mostMemoryBytes = 2 * 1024 ** 3;
/** Of computing. It ends a git whose Tutti was killed; any other one is ended by its deadline before. */
const mostCpuSeconds = 30 * 60;

/** Reads the configuration anew, because a filter may have been added since the last call. */
export async function openGit(gitDir: string, signal?: AbortSignal): Promise<OwnGit> {
  const settings = await settingsOf(gitDir, signal);
  const run: OwnGit["run"] = async (args, options = {}) => {
    const used = await settingsFor(settings, { gitDir, options });
    const flags = options.confined === undefined ? safeSettings(used) : confinedSettings(used);
    const workTree = options.workTree ?? gitDir;
    return execute([...flags, `--git-dir=${options.gitDir ?? gitDir}`, `--work-tree=${workTree}`, ...args], {
      cwd: workTree,
      options,
      args,
      gitDir,
    });
  };
  return {
    gitDir,
    settings,
    run,
    text: async (args, options) => (await run(args, options)).stdout.toString("utf8").replace(/\n$/, ""),
    list: async (args, options) =>
      (await run(args, options)).stdout
        .toString("utf8")
        .split("\0")
        .filter((name) => name !== ""),
  };
}

async function settingsOf(gitDir: string, signal: AbortSignal | undefined): Promise<GitSettings> {
  // Without settings of ours, which would be listed as if they were the person's. Reading a configuration starts no program.
  const { stdout } = await execute([`--git-dir=${gitDir}`, "config", "--list", "--show-scope", "-z"], {
    cwd: gitDir,
    options: { signal },
  });
  return readSettings(stdout.toString("utf8"));
}

/** A checkout can have settings of its own. Callers look at the shared ones alone, so a program beyond those is refused. */
async function settingsFor(
  settings: GitSettings,
  { gitDir, options }: { readonly gitDir: string; readonly options: GitRun },
): Promise<GitSettings> {
  const { gitDir: own = gitDir, confined, signal } = options;
  if (own === gitDir || !settings.varies) return settings;
  const used = await settingsOf(own, signal);
  const further = confined === undefined ? furtherPrograms(used, settings) : [];
  if (further.length === 0) return used;
  throw new TuttiError(
    "refused",
    `the settings of the checkout ${own} name programs that those of its repository ${gitDir} do not (${further.slice(0, 5).join(", ")}), and Tutti does not run them; move these settings to the repository, or use the mode \`copy\``,
  );
}

/** Git in a folder whose repository is not known yet. Use it only to find the repository of a person's folder. */
export async function discoverGit(folder: string, args: readonly string[], options: GitRun = {}): Promise<GitOutput> {
  return execute([...safeSettings(noPrograms), ...args], { cwd: folder, options, args });
}

interface Execution {
  readonly cwd: string;
  readonly options: GitRun;
  /** The part of the arguments that an error names. */
  readonly args?: readonly string[];
  /** The shared git folder, which a confined git must be able to read. */
  readonly gitDir?: string;
}

async function execute(argv: readonly string[], { cwd, options, args = argv, gitDir }: Execution): Promise<GitOutput> {
  const { signal, timeoutMs = defaultTimeoutMs } = options;
  if (signal?.aborted === true) throw canceled();
  const child = started(argv, { cwd, options, ...(gitDir === undefined ? {} : { gitDir }) });
  const output = collected(child, options);
  const stop = (): void => endGroup(child);
  const timer = setTimeout(() => {
    output.why ??= new TuttiError("deadline", `git ${args[0] ?? ""} took longer than ${timeoutMs} ms and was ended`);
    stop();
  }, timeoutMs);
  const onAbort = (): void => {
    output.why ??= canceled();
    stop();
  };
  signal?.addEventListener("abort", onAbort, { once: true });
  try {
    const code = await closed(child, cwd);
    const stderr = Buffer.concat(output.stderr).toString("utf8");
    if (output.why !== undefined) throw output.why;
    if (code === notFoundStatus && /not found/i.test(stderr)) throw gitNotStarted(notFound(stderr), cwd);
    if (!output.isCut && (code === null || (code !== 0 && options.expected?.includes(code) !== true))) {
      throw gitFailure({ args, code, stderr, cwd });
    }
    return { code: code ?? 0, stdout: Buffer.concat(output.stdout), stderr, isCut: output.isCut };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
  }
}

function started(argv: readonly string[], { cwd, options, gitDir }: Execution): ChildProcess {
  const { confined, objects, index, maxMemoryBytes = mostMemoryBytes } = options;
  const plain: readonly [string, ...string[]] = ["git", "--no-pager", ...argv];
  const readable =
    confined === undefined ? [] : readableFor({ cwd, options, ...(gitDir === undefined ? {} : { gitDir }) });
  const [program, ...rest] = confined?.confine({ argv: plain, cwd, writable: confined.writable, readable }) ?? plain;
  const limits = `ulimit -d ${Math.ceil(maxMemoryBytes / 1024)}; ulimit -t ${mostCpuSeconds}`;
  return spawn("/bin/sh", ["-c", `{ ${limits}; } 2>/dev/null; exec "$@"`, "sh", program, ...rest], {
    cwd,
    env: {
      ...environment(),
      ...(index === undefined ? {} : { GIT_INDEX_FILE: index }),
      ...(objects === undefined
        ? {}
        : {
            GIT_OBJECT_DIRECTORY: objects.folder,
            GIT_ALTERNATE_OBJECT_DIRECTORIES: objects.alternates.map(quoted).join(":"),
          }),
      ...options.env,
    },
    // A group of its own, so that whatever git starts is ended with it.
    detached: true,
    stdio: [options.stdin ?? "pipe", options.stdout ?? "pipe", "pipe", ...withoutInherited(3)],
  });
}

/** What a shell ends with when there is no such program. */
const notFoundStatus = 127;

function notFound(message: string): Error {
  return Object.assign(new Error(message.trim()), { code: "ENOENT" });
}

function readableFor({ cwd, options, gitDir }: Execution): string[] {
  const stores = [...(options.objects?.alternates ?? []), ...(gitDir === undefined ? [] : [join(gitDir, "objects")])];
  const known = [cwd, gitDir, options.gitDir, ...stores, ...stores.flatMap((store) => alternatesOf(store))];
  return [...new Set(known.flatMap((path) => path ?? []))];
}

/** Git separates the paths with colons unless they are quoted. */
function quoted(path: string): string {
  return /[:"\\\n]/.test(path)
    ? `"${path.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")}"`
    : path;
}

function environment(): Record<string, string> {
  return {
    ...ownEnvironment(["HOME", "XDG_CONFIG_HOME", "TMPDIR"]),
    GIT_TERMINAL_PROMPT: "0",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_NO_REPLACE_OBJECTS: "1",
    GIT_NO_LAZY_FETCH: "1",
    GIT_ATTR_NOSYSTEM: "1",
  };
}

interface Collected {
  readonly stdout: Buffer[];
  readonly stderr: Buffer[];
  isCut: boolean;
  why: TuttiError | undefined;
}

function collected(child: ChildProcess, { input, maxBytes = mostBytes, overflow = "fail" }: GitRun): Collected {
  const output: Collected = { stdout: [], stderr: [], isCut: false, why: undefined };
  let size = 0;
  let errorSize = 0;
  child.stdout?.on("data", (chunk: Buffer) => {
    if (output.isCut || output.why !== undefined) return;
    const room = maxBytes - size;
    size += chunk.length;
    output.stdout.push(chunk.length > room ? chunk.subarray(0, room) : chunk);
    if (chunk.length <= room) return;
    if (overflow === "cut") output.isCut = true;
    else output.why = new TuttiError("too_large", `git printed more than ${maxBytes} bytes and was ended`);
    endGroup(child);
  });
  child.stderr?.on("data", (chunk: Buffer) => {
    if (errorSize < mostErrorBytes) output.stderr.push(chunk.subarray(0, mostErrorBytes - errorSize));
    errorSize += chunk.length;
  });
  // Git may end before it has read everything; its exit status is what counts.
  child.stdin?.on("error", () => undefined);
  child.stdin?.end(input ?? "");
  return output;
}

function closed(child: ChildProcess, cwd: string): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.once("error", (cause) => reject(gitNotStarted(cause, cwd)));
    child.once("close", (code) => resolve(code));
  });
}

function endGroup(child: ChildProcess): void {
  const { pid } = child;
  if (pid === undefined || child.exitCode !== null) return;
  const send = (signal: NodeJS.Signals): void => {
    try {
      process.kill(-pid, signal);
    } catch {
      // It has just ended.
    }
  };
  // Git removes its lock files when it is asked to end.
  send("SIGTERM");
  const timer = setTimeout(() => send("SIGKILL"), graceMs);
  child.once("close", () => clearTimeout(timer));
}

function canceled(): TuttiError {
  return new TuttiError("canceled", "git was ended because the work was canceled", { retry: "safe" });
}
