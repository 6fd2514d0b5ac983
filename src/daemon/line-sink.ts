// Where lines of the log end: a file of its owner's, kept small, or stderr. Writing never throws.

import { closeSync, fchmodSync, fstatSync, fsyncSync, openSync, renameSync, statSync, writeSync } from "node:fs";

export interface LineSink {
  write(line: string): void;
  close(): void;
}

const rotateAbove = 10 * 1024 * 1024;
const stderr = 2;
/** A pipe that is full for longer loses the line rather than the service its time. */
const maxRetries = 20;
const pause = new Int32Array(new SharedArrayBuffer(4));

/** A file that has grown large is put aside as `.1`; when it cannot be opened, the lines go to stderr. */
export function openSink(file: string | undefined): { readonly sink: LineSink; readonly problem?: string } {
  if (file === undefined) return { sink: sinkOver(stderr, () => undefined) };
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
    return { sink: sinkOver(fd, close) };
  } catch (thrown) {
    return { sink: sinkOver(stderr, () => undefined), problem: codeOf(thrown) };
  }
}

function sinkOver(fd: number, close: () => void): LineSink {
  let [lost, closed, cut] = [0, false, false];
  return {
    write(line) {
      if (closed) return;
      const told =
        lost === 0 ? "" : `${JSON.stringify({ level: "warn", time: Date.now(), msg: `${lost} lines lost` })}\n`;
      const written = writeAll(fd, Buffer.from(`${cut ? "\n" : ""}${told}${line}`));
      if (written === "all") [lost, cut] = [0, false];
      else [lost, cut] = [lost + 1, cut || written === "some"];
    },
    close() {
      if (closed) return;
      closed = true;
      close();
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
