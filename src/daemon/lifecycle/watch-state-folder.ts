// Notices that the state folder of this process was removed or replaced, since SQLite would go on writing to a deleted file.

import { statSync } from "node:fs";
import { join } from "node:path";

import { TuttiError } from "../../protocol/error.ts";

const lookEveryMs = 1_000;

export interface WatchedFolder {
  /** Looks now: the error to end with when the folder is gone, whatever else failed because of that. */
  readonly gone: () => TuttiError | undefined;
  readonly close: () => void;
}

/** Calls `onGone` once, with the error to end with. */
export function watchStateFolder(folder: string, onGone: (error: TuttiError) => void): WatchedFolder {
  const watched = [folder, join(folder, "tutti.db"), join(folder, "lock.db")];
  const before = watched.map(fileId);
  const gone = (): TuttiError | undefined => {
    if (watched.map(fileId).every((id, index) => id === undefined || id === before[index])) return undefined;
    const what = statSync(folder, { throwIfNoEntry: false }) === undefined ? "was removed" : "was replaced";
    const message = `the state folder ${folder} ${what} while it was in use, so nothing more can be kept; start again, or restore the folder first`;
    return new TuttiError("io", message, { retry: "never", details: { state: folder } });
  };
  const timer = setInterval(() => {
    const error = gone();
    if (error === undefined) return;
    clearInterval(timer);
    onGone(error);
  }, lookEveryMs);
  timer.unref();
  return { gone, close: () => clearInterval(timer) };
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
