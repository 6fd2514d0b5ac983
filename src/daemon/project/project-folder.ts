// Finds the folder of a project: the nearest folder upwards with a sign of a project, else the folder itself.

import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

import { strangerProblem } from "../../files/owned-path.ts";
import { configNames } from "./config-files.ts";

const signs = [join(".tutti", "agents"), join(".claude", "agents"), ".git", ...configNames];

/**
 * The search ends below the home folder: what is in there belongs to the user, not to a project. It also ends at a folder
 * that another user could change, such as /tmp, because anybody could have put a sign there.
 */
export function projectFolder(from: string, home: string): string {
  for (let folder = from; folder !== home; folder = dirname(folder)) {
    if (strangerProblem(folder) !== undefined) break;
    if (signs.some((sign) => existsSync(join(folder, sign)))) return folder;
    if (folder === dirname(folder)) break;
  }
  return from;
}
