// Confines Tutti's own git where it may start a program, such as a filter: it can write only to the folders it is given.

import { seatbeltLauncher, seatbeltProfile } from "./seatbelt-profile.ts";
import type { Confine } from "../../../workspace/own-git.ts";
import { bubblewrapLauncher } from "./bwrap-argv.ts";
import type { SandboxStatus } from "./sandbox-status.ts";

/** Undefined when nothing confines programs on this machine. `hidden`: folders that no program may see. */
export function confineGit(status: SandboxStatus, hidden: readonly string[]): Confine | undefined {
  if (!status.confined) return undefined;
  return ({ argv, cwd, writable, readable }) => {
    const limits = { writable, hidden, readOnly: [], blank: [], network: false };
    if (status.by === "sandbox-exec") {
      const profile = seatbeltProfile({
        ...limits,
        hidden: [],
        temporary: writable[0] ?? "/private/var/empty",
        mayChangeProtected: true,
      });
      return [...seatbeltLauncher(status.program, profile).argv, "--", ...argv];
    }
    const binds = readable.map((path) => ({ from: path, to: path, writable: false }));
    const launcher = bubblewrapLauncher(status, {
      ...limits,
      binds: binds.filter(({ to }) => !writable.includes(to)),
      cwd,
    });
    return [...launcher.argv, "--", ...argv];
  };
}
