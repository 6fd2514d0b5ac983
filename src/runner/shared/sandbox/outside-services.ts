// Where services of the machine listen on sockets in the file system. Whoever can reach such a socket can use the service, also without a network.

import { readdirSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";

/** Whatever is in these, nothing confined sees it. */
const serviceFolders = ["/run", "/var/run"];

/** Real paths. */
export function foldersOfServices(): string[] {
  const real = serviceFolders.flatMap((path) => {
    try {
      return [realpathSync(path)];
    } catch {
      return [];
    }
  });
  return [...new Set(real)];
}

/** More are not looked at: a folder of so many names is no folder of a service. */
const mostNames = 2_000;

/**
 * The sockets of the folders in which somebody listens now, without those of hidden folders. A program may bind a socket by
 * another name and then rename it, as ssh does, so all sockets beside a bound one count. A folder that may only be read
 * does not keep a program from connecting to a socket in it.
 */
export function listeningSockets(isVisible: (path: string) => boolean): string[] {
  const folders = new Set(
    boundPaths()
      .filter(isVisible)
      .map((path) => dirname(path)),
  );
  return [...folders].flatMap((folder) => socketsIn(folder)).filter(isVisible);
}

function boundPaths(): string[] {
  let table: string;
  try {
    table = readFileSync("/proc/net/unix", "utf8");
  } catch {
    return [];
  }
  // Seven columns and the path, which may have blanks in it. Names that begin with `@` are in no folder.
  return table.split("\n").flatMap((line) => /^(?:\S+\s+){7}(\/.*)$/.exec(line)?.[1] ?? []);
}

/** Empty for a folder that we cannot read: nothing that runs with our rights can reach what is in it by guessing alone. */
function socketsIn(folder: string): string[] {
  try {
    const real = realpathSync(folder);
    const names = readdirSync(real, { withFileTypes: true });
    return names.slice(0, mostNames).flatMap((each) => (each.isSocket() ? [join(real, each.name)] : []));
  } catch {
    return [];
  }
}
