// Where the lines of the log are written: a file with a bounded size, or stderr. Writing never throws.

import { closeSync, copyFileSync, fchmodSync, fstatSync, fsyncSync, ftruncateSync, openSync } from "node:fs";
import { renameSync, statSync, writeSync } from "node:fs";

export interface LineSink {
  write(line: string): void;
  close(): void;
}

const maxBytes = 10 * 1024 * 1024;
const stderr = 2;
/** If a pipe is full for longer than this many milliseconds, the line is lost rather than the daemon held up. */
const maxRetries = 20;
const pause = new Int32Array(new SharedArrayBuffer(4));

export interface SinkOptions {
  /** Stderr is used if this is absent or cannot be opened. */
  readonly file?: string | undefined;
  /** If stderr is this file, its size is bounded too. */
  readonly stderrFile?: string | undefined;
}

/** A file that has grown too large is kept as `.1`, replacing the one before: when it is opened, and while it is written. */
export function openSink({ file, stderrFile }: SinkOptions): { readonly sink: LineSink; readonly problem?: string } {
  const toStderr = (): LineSink => {
    const isOurFile = stderrFile !== undefined && isSameFile(stderr, stderrFile);
    return sinkOver(stderr, { onWritten: isOurFile ? rotator(stderr, stderrFile) : () => undefined });
  };
  if (file === undefined) return { sink: toStderr() };
  try {
    if (isTooLarge(file)) renameSync(file, `${file}.1`);
    const fd = openSync(file, "a", 0o600);
    if (fstatSync(fd).isFile()) fchmodSync(fd, 0o600);
    const close = (): void => {
      try {
        fsyncSync(fd);
        closeSync(fd);
      } catch {
        return;
      }
    };
    return { sink: sinkOver(fd, { close, onWritten: rotator(fd, file) }) };
  } catch (thrown) {
    return { sink: toStderr(), problem: codeOf(thrown) };
  }
}

/**
 * Returns a function that is told how many bytes were written. The file is copied and emptied, not renamed, because Node
 * itself also writes to stderr and goes on writing to the same file.
 */
function rotator(fd: number, path: string): (bytes: number) => void {
  let left = maxBytes - fstatSync(fd).size;
  return (bytes) => {
    left -= bytes;
    if (left > 0) return;
    // If rotating fails, as on a full disk, it is tried again after as many bytes.
    left = maxBytes;
    try {
      if (!isSameFile(fd, path)) return;
      copyFileSync(path, `${path}.1`);
      ftruncateSync(fd);
    } catch {
      return;
    }
  };
}

function isSameFile(fd: number, path: string): boolean {
  try {
    const [one, other] = [fstatSync(fd), statSync(path)];
    return one.isFile() && one.dev === other.dev && one.ino === other.ino;
  } catch {
    return false;
  }
}

interface SinkEvents {
  readonly onWritten: (bytes: number) => void;
  readonly close?: () => void;
}

function sinkOver(fd: number, { onWritten, close }: SinkEvents): LineSink {
  /** How many lines could not be written, and whether the last of them was cut off in the middle. */
  let [lost, cut, closed] = [0, false, false];
  return {
    write(line) {
      if (closed) return;
      const bytes = Buffer.from(`${cut ? "\n" : ""}${lost === 0 ? "" : lostLine(lost)}${line}`);
      const written = writeAll(fd, bytes);
      onWritten(bytes.length);
      if (written === "all") [lost, cut] = [0, false];
      else [lost, cut] = [lost + 1, cut || written === "some"];
    },
    close() {
      if (closed) return;
      closed = true;
      close?.();
    },
  };
}

function lostLine(count: number): string {
  return `${JSON.stringify({ level: "warn", time: Date.now(), msg: `${count} lines lost` })}\n`;
}

function writeAll(fd: number, bytes: Buffer): "all" | "some" | "none" {
  let [done, retries] = [0, 0];
  while (done < bytes.length) {
    try {
      done += writeSync(fd, bytes, done);
    } catch (thrown) {
      if (codeOf(thrown) !== "EAGAIN" || retries === maxRetries) return done === 0 ? "none" : "some";
      retries += 1;
      Atomics.wait(pause, 0, 0, 1);
    }
  }
  return "all";
}

function isTooLarge(file: string): boolean {
  return (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > maxBytes;
}

function codeOf(thrown: unknown): string {
  return thrown instanceof Error && "code" in thrown ? String(thrown.code) : String(thrown);
}
