// Runs the programs of the tool `run`: confined if the sandbox works on this machine, otherwise unconfined.

import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";

import type { Command, CommandOutcome, CommandPlace, Commands } from "../../../agent/tools/run.ts";
import { TuttiError } from "../../../protocol/error.ts";
import type { StepContext } from "../../../ports.ts";
import { CommandConfig } from "../../command/config.ts";
import { environmentOf, programOf, workdirOf } from "../../command/resolve-command.ts";
import { type CommandOptions, runCommand } from "../../command/run-command.ts";
import { bubblewrapLauncher } from "./bwrap-argv.ts";
import { seatbeltLauncher, seatbeltProfile } from "./seatbelt-profile.ts";
import { type ProcessNote, stepVariable } from "../process/end-processes.ts";
import type { Launcher } from "../process/launcher.ts";
import { type FolderAccess, folderAccess, isVisible } from "./folder-access.ts";
import { HeldStore } from "./held-files.ts";
import type { SandboxStatus } from "./sandbox-status.ts";
import { foreignProgram, isOfTask } from "./workspace-code.ts";

/** How much of stdout and of stderr is kept, each; more would leave the model too little room for everything else. */
const outputBytes = 12_000;

export interface SandboxOptions {
  /** Folders that no program may see, such as the one where Tutti keeps its state and its keys. */
  readonly hidden?: readonly string[];
  /** A private folder outside of all workspaces, where protected files are held that appear while a program runs. */
  readonly aside?: string;
}

export function sandboxCommands(status: SandboxStatus, { hidden = [], aside }: SandboxOptions = {}): Commands {
  if (status.confined && aside === undefined) {
    throw new TuttiError("internal", "programs cannot be confined without a folder for files that are held");
  }
  const held = status.confined && aside !== undefined ? new HeldStore(aside, hidden) : undefined;
  return {
    confined: status.confined,
    ...(held === undefined ? {} : { held }),
    async place(command, { roots }) {
      const workdir = await workdirOf(command.cwd, { roots, offLimits: hidden });
      const access = status.confined ? await folderAccess(roots, hidden) : undefined;
      const { env_allow } = configOf(command, { workdir, access });
      const passed = Object.keys(environmentOf({ env: {}, env_allow })).toSorted();
      return {
        cwd: workdir,
        environment: [...passed, stepVariable],
        protectedFiles: [...(access?.before.found.keys() ?? [])],
        ...(status.confined ? {} : await unconfinedProgram(command, { workdir, roots, env_allow })),
      };
    },
    async run(command, { step, rights }) {
      const { roots } = rights;
      const workdir = await workdirOf(command.cwd, { roots, offLimits: hidden });
      const access = status.confined ? await folderAccess(roots, hidden) : undefined;
      const config = configOf(command, { workdir, access });
      const found = await resolveProgram(command, { workdir, access, env: environmentOf(config) });
      const { launcher, env, done } = await confine(status, { command, access, workdir });
      const ready = { ...config, argv: found, env: { ...config.env, ...env } };
      const options = { config: ready, launcher, stdin: command.stdin, roots };
      try {
        if (held === undefined || access === undefined) {
          const { leftovers: _, ...outcome } = await runCommand({ ...options, offLimits: hidden }, step);
          return outcome;
        }
        return await runWatched(held, { ...options, offLimits: hidden }, { command, step, access });
      } finally {
        await done();
      }
    },
  };
}

/** However the program ends, protected files that appeared meanwhile are moved aside. */
async function runWatched(
  held: HeldStore,
  options: CommandOptions,
  { command, step, access }: { command: Command; step: StepContext; access: FolderAccess },
): Promise<CommandOutcome> {
  const { key } = step;
  const watched = { roots: [...access.writable], mayChange: command.mayChangeProtected };
  const onProcess = (process: ProcessNote): Promise<void> => held.watch(key, access.before, { ...watched, process });
  let holding: Promise<readonly string[]> | undefined;
  try {
    const { leftovers: _, ...outcome } = await runCommand({ ...options, onProcess }, step);
    holding = held.hold(key);
    const { length } = await holding;
    return length === 0 ? outcome : { ...outcome, protected_files_held: length };
  } finally {
    await (holding ?? held.hold(key));
  }
}

async function unconfinedProgram(
  { argv: [name] }: Command,
  { workdir, roots, env_allow }: { workdir: string; roots: readonly string[]; env_allow: CommandConfig["env_allow"] },
): Promise<Pick<CommandPlace, "program" | "foreignProgram">> {
  const path = await programOf(name, workdir, environmentOf({ env: {}, env_allow })).catch(() => undefined);
  if (path === undefined) return {};
  const program = { path: await realpath(path).catch(() => path), isOfTask: await isOfTask(path, roots) };
  return { program, foreignProgram: await foreignProgram(path, roots) };
}

interface Confining {
  readonly command: Command;
  readonly access: FolderAccess | undefined;
  readonly workdir: string;
}

interface Confined {
  readonly launcher: Launcher | undefined;
  readonly env: Readonly<Record<string, string>>;
  readonly done: () => Promise<void>;
}

async function confine(status: SandboxStatus, { command, access, workdir }: Confining): Promise<Confined> {
  const done = async (): Promise<void> => undefined;
  if (!status.confined || access === undefined) return { launcher: undefined, env: {}, done };
  const { writable, hidden, blank, before } = access;
  const readOnly = command.mayChangeProtected ? [] : before.readOnly;
  const limits = { writable, hidden, blank, readOnly, network: command.network };
  if (status.by === "bubblewrap") {
    return { launcher: bubblewrapLauncher(status, { ...limits, cwd: workdir }), env: {}, done };
  }
  // Everybody sees the same /tmp on macOS, so the program gets a folder of its own for temporary files.
  const temporary = await realpath(await mkdtemp(join(tmpdir(), "tutti-run-")));
  const profile = seatbeltProfile({ ...limits, temporary, mayChangeProtected: command.mayChangeProtected });
  return {
    launcher: seatbeltLauncher(status.program, profile),
    env: { TMPDIR: temporary },
    done: () => rm(temporary, { recursive: true, force: true }),
  };
}

function configOf(
  { timeoutMs }: Command,
  { workdir, access }: { readonly workdir: string; readonly access: FolderAccess | undefined },
): CommandConfig {
  const config = CommandConfig.parse({
    // A placeholder; the caller sets the program once it is found.
    argv: ["-"],
    workdir,
    timeout_ms: timeoutMs,
    max_output_bytes: outputBytes,
  });
  if (access === undefined) return config;
  const path = environmentOf(config)
    ["PATH"]?.split(delimiter)
    .filter((folder) => isVisible(folder, access));
  return { ...config, env: { TMPDIR: "/tmp", ...(path === undefined ? {} : { PATH: path.join(delimiter) }) } };
}

/** Throws when the program does not exist or would be invisible in the sandbox, before anything is started. */
async function resolveProgram(
  { argv }: Command,
  where: {
    readonly workdir: string;
    readonly access: FolderAccess | undefined;
    readonly env: Readonly<Record<string, string>>;
  },
): Promise<[string, ...string[]]> {
  const [name, ...rest] = argv;
  const program = await programOf(name, where.workdir, where.env);
  if (where.access !== undefined && !isVisible(program, where.access)) {
    throw new TuttiError("not_found", `${program} is in a folder that a confined program cannot see`);
  }
  return [program, ...rest];
}
