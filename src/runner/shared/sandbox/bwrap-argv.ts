// The arguments that make bubblewrap confine a program: it can read the machine and change only the task's folders.

import { dirname } from "node:path";

import type { Launcher } from "../process/launcher.ts";
import { isVisible } from "./folder-access.ts";
import { foldersOfServices, listeningSockets } from "./outside-services.ts";

export interface Confinement {
  /** Real paths of the folders that may be written to. */
  readonly writable: readonly string[];
  /** Real paths of the folders that appear empty. Of nested folders of both kinds, the inner one applies. */
  readonly hidden: readonly string[];
  /** Real paths of files and folders inside of writable folders that may only be read. */
  readonly readOnly: readonly string[];
  /** Real paths of files that appear empty. */
  readonly blank: readonly string[];
  /** What appears at another place than its own, or in its own place inside of a hidden folder. */
  readonly binds?: readonly Bind[];
  /** Real paths of files that appear with the content of another file. */
  readonly replaced?: { readonly paths: readonly string[]; readonly by: string };
  readonly network: boolean;
  readonly cwd: string;
}

interface Bind {
  readonly from: string;
  readonly to: string;
  readonly writable: boolean;
}

/** Needed to resolve host names when the network is shared. Its parent folder is hidden because of the sockets in it. */
const resolver = "/run/systemd/resolve";

type Mount = [path: string, ...args: string[]];

export interface Bubblewrap {
  readonly program: string;
  /** Whether it can keep what it confines from making user namespaces, in which much more of the kernel can be reached. */
  readonly deniesNamespaces: boolean;
}

export function bubblewrapLauncher({ program, deniesNamespaces }: Bubblewrap, confinement: Confinement): Launcher {
  const denied = deniesNamespaces ? ["--unshare-user", "--disable-userns"] : [];
  return { by: "bubblewrap", argv: [program, ...denied, ...bwrapArgv(withoutServices(confinement))] };
}

/** No caller can forget it: what listens outside is out of reach, with and without the network. */
function withoutServices(confinement: Confinement): Confinement {
  const { writable, readOnly, blank, binds = [] } = confinement;
  const hidden = new Set([...confinement.hidden, ...foldersOfServices().filter((path) => !writable.includes(path))]);
  const seen = [...writable, ...readOnly, ...binds.map(({ to }) => to)];
  const sockets = listeningSockets((path) => isVisible(path, { writable: seen, hidden: [...hidden] }));
  return { ...confinement, hidden: [...hidden], blank: [...new Set([...blank, ...sockets])] };
}

/** Two dashes, the program and its arguments come after these. @internal Exported for its tests only. */
export function bwrapArgv(confinement: Confinement): string[] {
  const { writable, hidden, readOnly, blank, replaced, binds = [], network, cwd } = confinement;
  const mounts: Mount[] = [
    ["/dev", "--dev", "/dev"],
    ["/proc", "--proc", "/proc"],
    ["/tmp", "--tmpfs", "/tmp"],
    ...hidden.map((path): Mount => [path, "--tmpfs", path]),
    ...writable.map((path): Mount => [path, "--bind", path, path]),
    ...binds.map(({ from, to, writable: mayWrite }): Mount => [to, mayWrite ? "--bind" : "--ro-bind", from, to]),
    ...pinned(readOnly, writable).map((path): Mount => [path, "--bind-try", path, path]),
    // Mounted also when it is a link: then the file that the link leads to is what may only be read.
    ...readOnly.map((path): Mount => [path, "--ro-bind-try", path, path]),
    ...blank.map((path): Mount => [path, "--ro-bind", "/dev/null", path]),
    ...(replaced?.paths ?? []).map((path): Mount => [path, "--ro-bind", replaced?.by ?? "/dev/null", path]),
    ...(network ? [[resolver, "--ro-bind-try", resolver, resolver] satisfies Mount] : []),
  ];
  // A folder is mounted before the folders inside it, so that the inner mount applies. Equal depths keep their order.
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
  ];
}

/** Every mount makes the start slower. What is not pinned is found after the program has ended. */
const mostPinned = 200;

/**
 * The folders between a root and what may only be read. Each is mounted on itself, because a mounted folder cannot be
 * renamed: otherwise a program could move such a folder away and put another one in its place.
 */
function pinned(readOnly: readonly string[], writable: readonly string[]): string[] {
  const folders = new Set<string>();
  for (const path of readOnly) {
    const root = writable.find((folder) => path.startsWith(`${folder}/`));
    if (root === undefined) continue;
    for (let at = dirname(path); at.length > root.length; at = dirname(at)) folders.add(at);
  }
  return [...folders].toSorted((one, other) => depthOf(one) - depthOf(other)).slice(0, mostPinned);
}

function depthOf(path: string): number {
  return path.split("/").filter((name) => name !== "").length;
}
