// Where lines of the log end: a file of its owner's, kept small, or stderr. Writing never throws.

import { closeSync, copyFileSync, fchmodSync, fstatSync, fsyncSync, ftruncateSync, openSync } from "node:fs";
import { renameSync, statSync, writeSync } from "node:fs";

export interface LineSink {
  write(line: string): void;
  close(): void;
}

const rotateAbove = 10 * 1024 * 1024;
const stderr = 2;
/** A pipe that is full for longer loses the line rather than the service its time. */
const maxRetries = 20;
const pause = new Int32Array(new SharedArrayBuffer(4));

export interface SinkOptions {
  /** Stderr when absent, or when it cannot be opened. */
  readonly file?: string | undefined;
  /** A file of ours; if stderr is that one, it is kept small too. */
  readonly stderrFile?: string | undefined;
}

/** A file that has grown large is put aside as `.1`, when it is opened and while it is written. */
export function openSink({ file, stderrFile }: SinkOptions): { readonly sink: LineSink; readonly problem?: string } {
  const toStderr = (): LineSink => {
    const ours = stderrFile !== undefined && isSame(stderr, stderrFile);
    return sinkOver(stderr, { onGrown: ours ? puttingAside(stderr, stderrFile) : () => undefined });
  };
  if (file === undefined) return { sink: toStderr() };
  try {
    if (isLarge(file)) renameSync(file, `${file}.1`);
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
    return { sink: sinkOver(fd, { close, onGrown: puttingAside(fd, file) }) };
  } catch (thrown) {
    return { sink: toStderr(), problem: codeOf(thrown) };
  }
}

/**
 * Told by how much the file has grown. It is copied and emptied, not renamed: stderr is also written to by Node itself and
 * goes on in the same file.
 */
function puttingAside(fd: number, path: string): (bytes: number) => void {
  let left = rotateAbove - fstatSync(fd).size;
  return (bytes) => {
    left -= bytes;
    if (left > 0) return;
    // Where that fails, as on a full disk, it is tried again when as much has come again.
    left = rotateAbove;
    try {
      if (!isSame(fd, path)) return;
      copyFileSync(path, `${path}.1`);
      ftruncateSync(fd);
    } catch {
      return;
    }
  };
}

function isSame(fd: number, path: string): boolean {
  try {
    const [one, other] = [fstatSync(fd), statSync(path)];
    return one.isFile() && one.dev === other.dev && one.ino === other.ino;
  } catch {
    return false;
  }
}

interface SinkEvents {
  readonly onGrown: (bytes: number) => void;
  readonly close?: () => void;
}

function sinkOver(fd: number, { onGrown, close }: SinkEvents): LineSink {
  let [lost, closed, cut] = [0, false, false];
  return {
    write(line) {
      if (closed) return;
      const told =
        lost === 0 ? "" : `${JSON.stringify({ level: "warn", time: Date.now(), msg: `${lost} lines lost` })}\n`;
      const bytes = Buffer.from(`${cut ? "\n" : ""}${told}${line}`);
      const written = writeAll(fd, bytes);
      onGrown(bytes.length);
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

function isLarge(file: string): boolean {
  return (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > rotateAbove;
}

function codeOf(thrown: unknown): string {
  return thrown instanceof Error && "code" in thrown ? String(thrown.code) : String(thrown);
}
