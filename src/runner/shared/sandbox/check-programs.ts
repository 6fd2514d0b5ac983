// Runs the programs of a verification: confined like all code of a workspace, without keys and with a home of their own.

import { existsSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";

import { TuttiError } from "../../../protocol/error.ts";
import type { StepContext } from "../../../ports.ts";
import type { CheckProgram, RunProgram } from "../../../verification/check-program.ts";
import { CommandConfig } from "../../command/config.ts";
import { plainEnvironment } from "../confined-program.ts";
import type { Launcher } from "../process/launcher.ts";
import { programOf } from "../../command/resolve-command.ts";
import { runCommand } from "../../command/run-command.ts";
import { confineSession } from "./confine-session.ts";
import type { SandboxStatus } from "./sandbox-status.ts";
import { type SeenMachine, seenMachine } from "./unseen-machine.ts";

/** Makes test runners print the names of what passes, too; without output, in a list, they are what a run is compared by. */
const reporting = { PYTEST_ADDOPTS: "-rfEsxXp", GOFLAGS: "-v" };

export interface CheckProgramOptions {
  readonly sandbox: SandboxStatus;
  /** Folders that no program may see, such as the state folder. */
  readonly hidden: readonly string[];
  readonly toolchains: readonly string[];
  /** Whether a person agreed that programs run although nothing confines them on this machine. */
  readonly unconfined?: boolean;
}

/** The step must be repeatable. Its process is noted, so that recovery ends it. */
export function checkPrograms(options: CheckProgramOptions, step: StepContext): RunProgram {
  // The same for all programs of a verification.
  let machine: Promise<SeenMachine> | undefined;
  return async (program, signal) => {
    const { sandbox, unconfined = false } = options;
    if (!sandbox.confined && !unconfined) {
      return {
        ran: false,
        reason: `Nothing confines programs on this machine (${sandbox.reason}), so it was not run.`,
      };
    }
    await mkdir(join(program.home, "tmp"), { recursive: true, mode: 0o700 });
    try {
      const {
        stdout,
        stderr,
        exit_code,
        timed_out,
        duration_ms,
        signal: endedBy,
      } = await runCommand(
        {
          ...(await prepared(program, options, await (machine ??= seenMachine()))),
          stdin: "",
          roots: [program.folder],
          offLimits: options.hidden,
        },
        during(step, signal),
      );
      return { ran: true, exit_code, signal: endedBy, timed_out, stdout, stderr, duration_ms };
    } catch (thrown) {
      signal.throwIfAborted();
      if (!(thrown instanceof TuttiError) || !["not_found", "refused"].includes(thrown.code)) throw thrown;
      return { ran: false, reason: `It could not be started: ${thrown.message}.` };
    } finally {
      await rm(program.home, { recursive: true, force: true });
    }
  };
}

function during(step: StepContext, signal: AbortSignal): StepContext {
  return {
    signal,
    key: step.key,
    noted: step.noted,
    note: (value) => step.note(value),
    live: (channel, text) => step.live(channel, text),
    now: () => step.now(),
    get stopping() {
      return step.stopping ?? false;
    },
  };
}

async function prepared(
  program: CheckProgram,
  { sandbox, hidden, toolchains }: CheckProgramOptions,
  machine: SeenMachine,
): Promise<{ readonly config: CommandConfig; readonly launcher: Launcher | undefined }> {
  const { argv, cwd, folder, home, readable, network, timeoutMs, maxOutputBytes } = program;
  const plain = checkEnvironment();
  const [name, ...args] = argv;
  const path = await programOf(name, cwd, plain);
  const git = { readOnly: [], hidden: [], binds: readable.map((each) => ({ from: each, to: each, writable: false })) };
  const own = { toolchains: [...toolchains, ...machine.toolchains], unseen: machine.unseen };
  const place = { cwd, roots: [folder], home, hidden, covered: [], git, network, ...own };
  const confined = sandbox.confined ? await confineSession(sandbox, place, path) : undefined;
  const config = CommandConfig.parse({
    argv: [path, ...args],
    workdir: cwd,
    env: { ...plain, HOME: home, TMPDIR: join(home, "tmp"), ...confined?.env },
    env_allow: [],
    timeout_ms: timeoutMs,
    max_output_bytes: maxOutputBytes,
  });
  return { config, launcher: confined?.launcher };
}

function checkEnvironment(): Record<string, string> {
  // In a home of its own, cargo would find no version of itself.
  const rust = process.env["RUSTUP_HOME"] ?? join(homedir(), ".rustup");
  const toolchain = existsSync(rust) ? { RUSTUP_HOME: rust } : {};
  return { ...plainEnvironment(), ...reporting, ...toolchain };
}
