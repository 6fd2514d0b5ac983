// Runs an agent's programs: in a sandbox where there is one, otherwise as they are, and never one for the other.

import { realpath } from "node:fs/promises";
import { delimiter } from "node:path";

import type { Command, Commands } from "../../../agent/tools/run.ts";
import { TuttiError } from "../../../protocol/error.ts";
import { CommandConfig } from "../../command/config.ts";
import { environmentOf, programOf, workdirOf } from "../../command/resolve-command.ts";
import { runCommand } from "../../command/run-command.ts";
import { bwrapArgv } from "./bwrap-argv.ts";
import type { SandboxStatus } from "./sandbox-status.ts";

/** Kept of each output; more crowds out everything else the model has to read. */
const outputBytes = 12_000;
/** Sockets of services that do as they are told, whoever tells them: a read-only view of them is enough to use them. */
const serviceFolders = ["/run", "/var/run"];

export interface SandboxOptions {
  /** Folders no program may look into, such as the one Tutti keeps its state and its keys in. */
  readonly hidden?: readonly string[];
}

export function sandboxCommands(status: SandboxStatus, { hidden = [] }: SandboxOptions = {}): Commands {
  return {
    confined: status.confined,
    async run(command, { step, rights }) {
      const { roots } = rights;
      const workdir = await workdirOf(command.cwd, roots);
      const view = status.confined ? await viewOf(roots, hidden) : undefined;
      const config = configOf(command, { workdir, view });
      const found = await resolved(command, { workdir, view, env: environmentOf(config) });
      const argv: [string, ...string[]] =
        status.confined && view !== undefined
          ? [status.program, ...bwrapArgv({ ...view, network: command.network, cwd: workdir }), ...found]
          : found;
      const { leftovers: _, ...outcome } = await runCommand(
        { config: { ...config, argv }, stdin: command.stdin, roots },
        step,
      );
      return outcome;
    },
  };
}

/** What a confined program may write to and what it does not see. */
interface View {
  readonly writable: readonly string[];
  readonly hidden: readonly string[];
}

async function viewOf(roots: readonly string[], hidden: readonly string[]): Promise<View> {
  const writable = await realFolders(roots);
  if (writable.includes("/")) {
    throw new TuttiError(
      "refused",
      "a task whose folder is the whole machine cannot be confined; give it a narrower one",
    );
  }
  const unseen = await realFolders([...serviceFolders, ...hidden]);
  return { writable, hidden: unseen.filter((path) => !writable.includes(path)) };
}

function configOf(
  { timeoutMs }: Command,
  { workdir, view }: { readonly workdir: string; readonly view: View | undefined },
): CommandConfig {
  const config = CommandConfig.parse({
    // Put in its place once it was found.
    argv: ["-"],
    workdir,
    timeout_ms: timeoutMs,
    max_output_bytes: outputBytes,
  });
  if (view === undefined) return config;
  const path = environmentOf(config)
    ["PATH"]?.split(delimiter)
    .filter((folder) => isSeen(folder, view));
  return { ...config, env: { TMPDIR: "/tmp", ...(path === undefined ? {} : { PATH: path.join(delimiter) }) } };
}

/** A program that is not there, or that would not be seen, is said so by us before anything was started. */
async function resolved(
  { argv }: Command,
  place: { readonly workdir: string; readonly view: View | undefined; readonly env: Readonly<Record<string, string>> },
): Promise<[string, ...string[]]> {
  const [name, ...rest] = argv;
  const program = await programOf(name, place.workdir, place.env);
  if (place.view !== undefined && !isSeen(program, place.view)) {
    throw new TuttiError("not_found", `${program} lies in a folder that a confined program does not see`);
  }
  return [program, ...rest];
}

/** The nearest folder around it decides. */
function isSeen(path: string, { writable, hidden }: View): boolean {
  const nearest = (folders: readonly string[]): number =>
    Math.max(
      0,
      ...folders.filter((folder) => path === folder || path.startsWith(`${folder}/`)).map((folder) => folder.length),
    );
  return nearest(writable) >= nearest(["/tmp", ...hidden]);
}

/** Those that are there; two names of one folder are one. */
async function realFolders(paths: readonly string[]): Promise<string[]> {
  const real = await Promise.all(paths.map((path) => realpath(path).catch(() => undefined)));
  return [...new Set(real.flatMap((path) => path ?? []))];
}
