// Notices that the state folder of this process was removed or replaced, since SQLite would go on writing to a deleted file.

import { statSync } from "node:fs";
import { join } from "node:path";

import { TuttiError } from "../../protocol/error.ts";

const lookEveryMs = 1_000;

/** Calls `onGone` once, with the error to end with. Returns how to stop looking. */
export function watchStateFolder(folder: string, onGone: (error: TuttiError) => void): () => void {
  const watched = [folder, join(folder, "tutti.db"), join(folder, "lock.db")];
  const before = watched.map(fileId);
  const timer = setInterval(() => {
    if (watched.map(fileId).every((id, index) => id === undefined || id === before[index])) return;
    clearInterval(timer);
    const what = statSync(folder, { throwIfNoEntry: false }) === undefined ? "was removed" : "was replaced";
    const message = `the state folder ${folder} ${what} while it was in use, so nothing more can be kept; start again, or restore the folder first`;
    onGone(new TuttiError("io", message, { retry: "never", details: { state: folder } }));
  }, lookEveryMs);
  timer.unref();
  return () => clearInterval(timer);
}

/** Undefined when the file cannot be looked at, as on a network disk that is away: that does not mean that it is gone. */
function fileId(path: string): string | undefined {
  try {
    const found = statSync(path, { bigint: true, throwIfNoEntry: false });
    return found === undefined ? "gone" : `${found.dev}:${found.ino}`;
  } catch {
    return undefined;
  }
}
