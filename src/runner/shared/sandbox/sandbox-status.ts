// Finds out whether programs can be confined on this machine by confining one.

import { execFile } from "node:child_process";
import { tmpdir } from "node:os";
import { promisify } from "node:util";

import { TuttiError } from "../../../protocol/error.ts";
import { programOf } from "../../command/resolve-command.ts";
import { bwrapArgv } from "./bwrap-argv.ts";

export type SandboxStatus =
  | { readonly confined: true; readonly program: string; readonly version: string }
  | { readonly confined: false; readonly reason: string; readonly advice: string };

const run = promisify(execFile);
const probeMs = 10_000;

/** Tries it, because a container may have bubblewrap installed and still not allow what it needs. */
export async function probeSandbox(
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<SandboxStatus> {
  if (process.platform !== "linux") {
    return {
      confined: false,
      reason: "bubblewrap works on Linux only",
      advice: "programs run unconfined here and need approval; use a container or a Linux machine to confine them",
    };
  }
  const path = env["PATH"];
  let program: string;
  try {
    program = await programOf("bwrap", "/", path === undefined ? {} : { PATH: path });
  } catch (thrown) {
    if (!(thrown instanceof TuttiError)) throw thrown;
    const advice = "install it, for example with: apt-get install bubblewrap";
    return { confined: false, reason: "bubblewrap (bwrap) is not installed", advice };
  }
  const argv = bwrapArgv({ writable: [], hidden: [], network: false, cwd: "/" });
  try {
    await run(program, [...argv, "/bin/sh", "-c", ": > /tmp/x && [ ! -w / ]"], {
      timeout: probeMs,
      cwd: tmpdir(),
    });
    const { stdout } = await run(program, ["--version"], { timeout: probeMs });
    return { confined: true, program, version: stdout.trim().replace(/^bubblewrap\s+/, "") };
  } catch (thrown) {
    const output = thrown instanceof Error && "stderr" in thrown ? String(thrown.stderr).trim().split("\n").at(-1) : "";
    const reason = `bubblewrap is installed but cannot confine a program here${output ? `: ${output}` : ""}`;
    const advice =
      "allow user namespaces (in a container: its security profile), or programs run unconfined and need approval";
    return { confined: false, reason, advice };
  }
}
