// The arguments that make bubblewrap confine a program: it can read the machine and change only the task's folders.

interface Confinement {
  /** Real paths of the folders that may be written to. */
  readonly writable: readonly string[];
  /** Real paths of the folders that appear empty. Of nested folders of both kinds, the inner one applies. */
  readonly hidden: readonly string[];
  readonly network: boolean;
  readonly cwd: string;
}

/** Needed to resolve host names when the network is shared. Its parent folder is hidden because of the sockets in it. */
const resolver = "/run/systemd/resolve";

/** The program and its arguments come after these. */
export function bwrapArgv({ writable, hidden, network, cwd }: Confinement): string[] {
  const mounts: [path: string, ...args: string[]][] = [
    ["/dev", "--dev", "/dev"],
    ["/proc", "--proc", "/proc"],
    ["/tmp", "--tmpfs", "/tmp"],
    ...hidden.map((path): [string, ...string[]] => [path, "--tmpfs", path]),
    ...writable.map((path): [string, ...string[]] => [path, "--bind", path, path]),
    ...(network ? [[resolver, "--ro-bind-try", resolver, resolver] satisfies [string, ...string[]]] : []),
  ];
  // A folder is mounted before the folders inside it, so that the inner mount applies.
  mounts.sort(([one], [other]) => depthOf(one) - depthOf(other));
  return [
    "--unshare-all",
    ...(network ? ["--share-net"] : []),
    "--die-with-parent",
    // If we run as root, the program could otherwise undo all of this.
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
