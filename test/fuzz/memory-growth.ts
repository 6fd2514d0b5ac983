// Measures the memory of a process over time and says whether it keeps growing.

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

export interface Memory {
  /** In bytes; the least seen in the middle of the run, and the least seen at its end. */
  readonly middle: number;
  readonly end: number;
  readonly grew: boolean;
  /** The most seen. */
  readonly most: number;
}

export interface MemoryWatch {
  stop(): Memory;
}

const everyMs = 200;
/**
 * The heap of the fuzzed daemon may hold 192 MiB and is collected long before, so between two collections it swings by some
 * tens of MiB; comparing the least of one stretch with the least of another takes most of that out. What is left over, up
 * to 10 MiB in runs of two minutes, is caches that fill and pages that are not given back. Three times that is room enough:
 * a leak of 1 KiB a request is beyond it after some 50,000 requests.
 */
const room = 32 * 2 ** 20;
/** Half a minute. In a shorter run the heap has not reached its size yet, so only the most that it holds is judged. */
const fewestSamples = 150;

export function watchMemory(pid: number): MemoryWatch {
  const samples: number[] = [];
  const timer = setInterval(() => {
    const bytes = residentBytes(pid);
    if (bytes !== undefined) samples.push(bytes);
  }, everyMs);
  return {
    stop() {
      clearInterval(timer);
      const part = (from: number, to: number): number =>
        Math.min(...samples.slice(Math.floor(samples.length * from), Math.ceil(samples.length * to)));
      const [middle, end] = samples.length < fewestSamples ? [0, 0] : [part(0.3, 0.5), part(0.8, 1)];
      return { middle, end, grew: end - middle > room, most: Math.max(0, ...samples) };
    },
  };
}

export function residentBytes(pid: number): number | undefined {
  try {
    const kilobytes =
      process.platform === "linux"
        ? /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1]
        : execFileSync("ps", ["-o", "rss=", "-p", String(pid)], { encoding: "utf8" }).trim();
    return kilobytes === undefined || kilobytes === "" ? undefined : Number(kilobytes) * 1024;
  } catch {
    return undefined;
  }
}
