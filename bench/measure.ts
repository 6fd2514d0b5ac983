// How benchmarks measure: CPU time of this process, the best of several rounds, and the one line each of them prints.
import { spawnSync } from "node:child_process";

/** CPU milliseconds (user + system) spent by `work`. */
export function cpuOf(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const spent = process.cpuUsage(before);
  return (spent.user + spent.system) / 1000;
}

export interface Cost {
  readonly cpuMs: number;
  readonly wallMs: number;
}

/** What waiting for `work` cost this process: CPU (user + system, of all its threads) and time that passed. */
export async function costOf(work: () => Promise<void>): Promise<Cost> {
  const [cpu, wall] = [process.cpuUsage(), performance.now()];
  await work();
  const [spent, wallMs] = [process.cpuUsage(cpu), performance.now() - wall];
  return { cpuMs: (spent.user + spent.system) / 1000, wallMs };
}

/** The least of each over several rounds. */
export function leastCost(costs: readonly Cost[]): Cost {
  return {
    cpuMs: Math.min(...costs.map((cost) => cost.cpuMs)),
    wallMs: Math.min(...costs.map((cost) => cost.wallMs)),
  };
}

/**
 * Best CPU time of each contender over `rounds` interleaved rounds, so that a noisy neighbour hits all of them alike.
 * Each contender runs once before, unmeasured, to be compiled.
 */
export function bestOf<K extends string>(
  rounds: number,
  contenders: Readonly<Record<K, () => void>>,
): Record<K, number> {
  const names = Object.keys(contenders) as K[];
  const best = Object.fromEntries(names.map((name) => [name, Infinity])) as Record<K, number>;
  for (const name of names) contenders[name]();
  for (let round = 0; round < rounds; round += 1) {
    for (const name of names) best[name] = Math.min(best[name], cpuOf(contenders[name]));
  }
  return best;
}

/** Slope of log(cost) over log(size), by least squares: 1 is linear, 2 quadratic. */
export function growthExponent(points: readonly { size: number; cost: number }[]): number {
  const xs = points.map((point) => Math.log(point.size));
  const ys = points.map((point) => Math.log(point.cost));
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [meanX, meanY] = [mean(xs), mean(ys)];
  let covariance = 0;
  let variance = 0;
  xs.forEach((x, index) => {
    covariance += (x - meanX) * ((ys[index] ?? 0) - meanY);
    variance += (x - meanX) ** 2;
  });
  return covariance / variance;
}

export interface Verdict {
  readonly name: string;
  readonly ratio: number;
  /** The ratio may be at most this, or must be at least this. */
  readonly target: number;
  /** Which of the two; at most when absent. */
  readonly bound?: "at most" | "at least";
  readonly figures: Readonly<Record<string, unknown>>;
}

/** Prints the verdict as one line of JSON; a missed target makes the process end non-zero. */
export function report(verdict: Verdict): void {
  const { name, ratio, target, bound = "at most", figures } = verdict;
  const pass = bound === "at most" ? ratio <= target : ratio >= target;
  console.log(JSON.stringify({ name, ratio: round(ratio), bound, target, pass, ...figures }));
  if (!pass) process.exitCode = 1;
}

export function round(value: number, digits = 3): number {
  return Number(value.toFixed(digits));
}

/** CPU milliseconds of one run of a shell command, from bash's own accounting of `times` runs. */
export function cpuOfCommand(command: string, times: number, cwd: string): number {
  const script = `TIMEFORMAT="%3U %3S"; time { for i in $(seq ${times}); do ${command} >/dev/null || exit 1; done; }`;
  const shell = spawnSync("bash", ["-c", script], { cwd, encoding: "utf8" });
  const [user, system] = shell.stderr.trim().split(/\s+/).slice(-2).map(Number);
  if (shell.status !== 0 || user === undefined || system === undefined)
    throw new Error(`${command} failed: ${shell.stderr}`);
  return ((user + system) * 1000) / times;
}
