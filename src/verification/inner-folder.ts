// Finds a folder inside of a checkout, whose links may lead anywhere.

import { realpath, stat } from "node:fs/promises";
import { resolve, sep } from "node:path";

/** The real path; undefined when it is no folder or lies outside. `top` is a real path. */
export async function innerFolder(top: string, path: string): Promise<string | undefined> {
  try {
    const real = await realpath(resolve(top, path));
    if (real !== top && !real.startsWith(top + sep)) return undefined;
    return (await stat(real)).isDirectory() ? real : undefined;
  } catch {
    return undefined;
  }
}
