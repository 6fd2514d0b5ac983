// Measures one peer in a process of its own: runs alone and 64 at once, with memory and bytes on disk; or a fan-out of children.
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { contentBytes } from "./work.js";

/** The compilers of the engine need this many runs before a run costs the same as the one before; slow peers get less of them. */
const warmUp = { runs: 2_000, ms: 4_000 };
const measuredFor = { ms: 3_000 };

const [name, what = "runs", alone = "200", together = "2000"] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "tutti-peer-"));
const importing = performance.now();
const { open } = await import(`./${name}.peer.js`);
const import_ms = performance.now() - importing;
const peer = await open({ folder, delayMs: 50 });
globalThis.gc?.();
const loaded_mb = process.memoryUsage().rss / 2 ** 20;

async function measured(work) {
  const [cpu, start] = [process.cpuUsage(), performance.now()];
  const done = await work();
  const used = process.cpuUsage(cpu);
  return { done, cpu_ms: (used.user + used.system) / 1_000, wall_ms: performance.now() - start };
}

/** As many runs as were asked for, or as begin within the time; how many were done. */
async function lanes(total, atOnce, { ms }) {
  const end = performance.now() + ms;
  let done = 0;
  const lane = async () => {
    while (done < total && performance.now() < end) {
      done += 1;
      await peer.run();
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  return done;
}

const sizeOf = () => readdirSync(folder).reduce((sum, file) => sum + statSync(join(folder, file)).size, 0);
const peakMb = () => process.resourceUsage().maxRSS / 1_024;

async function runs() {
  const warm = await lanes(warmUp.runs, 64, warmUp);
  const warmAlone = await lanes(Number(alone), 1, measuredFor);
  const one = await measured(() => lanes(Number(alone), 1, measuredFor));
  const many = await measured(() => lanes(Number(together), 64, measuredFor));
  // Closed, so that nothing of it is left in a log that is written again and again.
  await peer.close();
  return {
    import_ms,
    alone_cpu_ms: one.cpu_ms / one.done,
    alone_wall_ms: one.wall_ms / one.done,
    at_64_cpu_ms: many.cpu_ms / many.done,
    at_64_per_s: (many.done / many.wall_ms) * 1_000,
    loaded_mb,
    peak_mb: peakMb(),
    disk_kb: sizeOf() / 1_024 / (warm + warmAlone + one.done + many.done),
    content_kb: contentBytes() / 1_024,
  };
}

/** In a process that has done nothing before, as a program that starts does it. */
async function children() {
  const all = peer.children ?? ((count) => Promise.all(Array.from({ length: count }, () => peer.child())));
  const hundred = await measured(() => all(100));
  const thousand = await measured(() => all(1_000));
  const fan_out_peak_mb = peakMb();
  for (let again = 0; again < 5; again += 1) await all(1_000);
  const warm = await measured(() => all(1_000));
  await peer.close();
  return {
    children_100_at_50_ms: hundred.wall_ms,
    fan_out_1000_cpu_ms: thousand.cpu_ms,
    fan_out_1000_warm_cpu_ms: warm.cpu_ms,
    fan_out_peak_mb,
  };
}

try {
  console.log(JSON.stringify(what === "children" ? await children() : await runs()));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exit(0);
