// Finds out whether programs can be confined on this machine by confining one.

import { execFile } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

import { ownEnvironment, ownPath } from "../../../files/own-environment.ts";
import { TuttiError } from "../../../protocol/error.ts";
import { programOf } from "../../command/resolve-command.ts";
import { bubblewrapLauncher } from "./bwrap-argv.ts";
import { seatbeltLauncher, seatbeltProfile } from "./seatbelt-profile.ts";

export type SandboxStatus =
  | {
      readonly confined: true;
      readonly by: "bubblewrap";
      readonly program: string;
      readonly version: string;
      /** Whether a confined program cannot make user namespaces of its own. */
      readonly deniesNamespaces: boolean;
    }
  | {
      readonly confined: true;
      readonly by: "sandbox-exec";
      readonly program: string;
      readonly version: string;
    }
  | { readonly confined: false; readonly reason: string; readonly advice: string };

const run = promisify(execFile);
const probeMs = 10_000;

const nothingWritable = { writable: [], hidden: [], readOnly: [], blank: [], network: false } as const;
const seatbelt = "/usr/bin/sandbox-exec";

/** A program that tries to write where it must not: confined, it fails, and the probe succeeds. */
async function probeSeatbelt(): Promise<SandboxStatus> {
  const profile = seatbeltProfile({ ...nothingWritable, temporary: "/private/var/empty", mayChangeProtected: false });
  const [program, ...args] = seatbeltLauncher(seatbelt, profile).argv;
  try {
    await run(program, [...args, "--", "/bin/sh", "-c", `! { : > "$0"; } 2> /dev/null`, join(tmpdir(), "x")], {
      timeout: probeMs,
      env: ownEnvironment(),
    });
    return { confined: true, by: "sandbox-exec", program: seatbelt, version: "of this macOS" };
  } catch (thrown) {
    const reason = `sandbox-exec cannot confine a program here: ${thrown instanceof Error ? thrown.message : String(thrown)}`;
    return { confined: false, reason, advice: "programs run unconfined and need approval" };
  }
}

/** Tries it, because a container may have bubblewrap installed and still not allow what it needs. */
export async function probeSandbox(
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<SandboxStatus> {
  if (process.platform === "darwin") return probeSeatbelt();
  if (process.platform !== "linux") {
    return {
      confined: false,
      reason: "programs can be confined on Linux and macOS only",
      advice: "programs run unconfined here and need approval; use a container or a Linux machine to confine them",
    };
  }
  const path = env["PATH"];
  let program: string;
  try {
    program = await programOf("bwrap", "/", path === undefined ? {} : { PATH: ownPath(path) });
  } catch (thrown) {
    if (!(thrown instanceof TuttiError)) throw thrown;
    const advice = "install it, for example with: apt-get install bubblewrap";
    return { confined: false, reason: "bubblewrap (bwrap) is not installed", advice };
  }
  try {
    // Bubblewrap before 0.8 cannot deny namespaces, and some containers do not let it.
    const deniesNamespaces = await tryBubblewrap(program, true).then(
      () => true,
      () => false,
    );
    if (!deniesNamespaces) await tryBubblewrap(program, false);
    const { stdout } = await run(program, ["--version"], { timeout: probeMs, env: ownEnvironment() });
    const version = stdout.trim().replace(/^bubblewrap\s+/, "");
    return { confined: true, by: "bubblewrap", program, version, deniesNamespaces };
  } catch (thrown) {
    const output = thrown instanceof Error && "stderr" in thrown ? String(thrown.stderr).trim().split("\n").at(-1) : "";
    const reason = `bubblewrap is installed but cannot confine a program here${output ? `: ${output}` : ""}`;
    const advice =
      "allow user namespaces (in a container: its security profile), or programs run unconfined and need approval";
    return { confined: false, reason, advice };
  }
}

async function tryBubblewrap(program: string, deniesNamespaces: boolean): Promise<void> {
  const { argv } = bubblewrapLauncher({ program, deniesNamespaces }, { ...nothingWritable, cwd: "/" });
  await run(argv[0], [...argv.slice(1), "--", "/bin/sh", "-c", ": > /tmp/x && [ ! -w / ]"], {
    timeout: probeMs,
    cwd: tmpdir(),
    env: ownEnvironment(),
  });
}
