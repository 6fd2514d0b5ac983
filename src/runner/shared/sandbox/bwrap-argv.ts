// The arguments that make bubblewrap confine a program: all of the machine to look at, the task's folders to change, nothing else.

interface Confinement {
  /** Real folders that may be written to. */
  readonly writable: readonly string[];
  /** Real folders that look empty. What lies below both kinds follows the nearer one. */
  readonly hidden: readonly string[];
  readonly network: boolean;
  readonly cwd: string;
}

/** Names are resolved through this when the network is shared; it lies in a folder that is hidden for its sockets. */
const resolver = "/run/systemd/resolve";

/** The program and its arguments go after these. */
export function bwrapArgv({ writable, hidden, network, cwd }: Confinement): string[] {
  const mounts: [path: string, ...args: string[]][] = [
    ["/dev", "--dev", "/dev"],
    ["/proc", "--proc", "/proc"],
    ["/tmp", "--tmpfs", "/tmp"],
    ...hidden.map((path): [string, ...string[]] => [path, "--tmpfs", path]),
    ...writable.map((path): [string, ...string[]] => [path, "--bind", path, path]),
    ...(network ? [[resolver, "--ro-bind-try", resolver, resolver] satisfies [string, ...string[]]] : []),
  ];
  // A folder is mounted before those below it, so that the nearer one holds.
  mounts.sort(([one], [other]) => depthOf(one) - depthOf(other));
  return [
    "--unshare-all",
    ...(network ? ["--share-net"] : []),
    "--die-with-parent",
    // Root on the outside would keep the power to undo all of this.
    "--cap-drop",
    "ALL",
    "--ro-bind",
    "/",
    "/",
    ...mounts.flatMap(([, ...args]) => args),
    "--chdir",
    cwd,
    "--",
  ];
}

function depthOf(path: string): number {
  return path.split("/").filter((name) => name !== "").length;
}
