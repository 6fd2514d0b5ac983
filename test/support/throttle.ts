// Gives processes a share of the time, by stop and continue signals: a machine that is slower, with everything else the same.

import { readdirSync, readFileSync } from "node:fs";

const sliceMs = 20;

interface Throttle {
  /** Lets everything go on at full speed again. */
  release(): void;
}

/**
 * Of each `1 / share` slices the processes run in one. Those that the roots have started are found anew for every slice.
 * Terminals and shells are not stopped, because they watch over their children.
 */
export function throttle(roots: () => readonly number[], share: number): Throttle {
  const slices = Math.round(1 / share);
  let stopped: readonly number[] = [];
  let count = 0;
  const resume = (): void => {
    for (const pid of stopped) signal(pid, "SIGCONT");
    stopped = [];
  };
  const timer = setInterval(() => {
    count += 1;
    if (count % slices === 0) return resume();
    // Also those that were started since the last slice.
    const fresh = below(roots()).filter((pid) => !stopped.includes(pid));
    for (const pid of fresh) signal(pid, "SIGSTOP");
    stopped = [...stopped, ...fresh];
  }, sliceMs);
  return {
    release() {
      clearInterval(timer);
      resume();
    },
  };
}

function signal(pid: number, name: "SIGSTOP" | "SIGCONT"): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended.
  }
}

const watchers: ReadonlySet<string> = new Set(["timeout", "script", "sh", "dash", "bash"]);

/** The processes that these have started, and what those have started, without the ones that watch over others. */
function below(roots: readonly number[]): number[] {
  const children = new Map<number, number[]>();
  const names = new Map<number, string>();
  for (const entry of readdirSync("/proc")) {
    if (!/^\d+$/.test(entry)) continue;
    const found = /^\d+ \((?<name>.*)\) \S (?<parent>\d+)/s.exec(statusOf(entry));
    const { name = "", parent = "" } = found?.groups ?? {};
    if (parent === "") continue;
    names.set(Number(entry), name);
    children.set(Number(parent), [...(children.get(Number(parent)) ?? []), Number(entry)]);
  }
  const found: number[] = [];
  const queue = [...roots];
  for (let pid = queue.shift(); pid !== undefined; pid = queue.shift()) {
    if (!watchers.has(names.get(pid) ?? "")) found.push(pid);
    queue.push(...(children.get(pid) ?? []));
  }
  return found.filter((pid) => names.has(pid));
}

function statusOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch {
    return "";
  }
}
