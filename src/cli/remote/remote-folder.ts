// The `--cwd` of a command that works with a daemon elsewhere: a folder on the machine of the daemon.
import { isAbsolute } from "node:path";

import { TuttiError } from "../../protocol/error.ts";

/** Undefined when none is given; then the daemon takes the folder where it was started. */
export function remoteFolder(folder: string | undefined): string | undefined {
  if (folder === undefined || isAbsolute(folder)) return folder;
  const message = `--cwd is a folder on the machine of the daemon, so it must be an absolute path, not ${folder}`;
  throw new TuttiError("usage", message);
}
