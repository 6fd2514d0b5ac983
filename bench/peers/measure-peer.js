// Measures one peer in a process of its own: CPU and time of a run alone and of 64 at once, memory, and bytes on disk per run.
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const warmUp = 64;
const [name, alone = "40", together = "256"] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "tutti-peer-"));
const importing = performance.now();
const { open } = await import(`./${name}.peer.js`);
const import_ms = performance.now() - importing;
let peer = await open({ folder, delayMs: 50 });
globalThis.gc?.();
const loaded = process.memoryUsage().rss;

async function measured(work) {
  const [cpu, start] = [process.cpuUsage(), performance.now()];
  await work();
  const used = process.cpuUsage(cpu);
  return { cpu_ms: (used.user + used.system) / 1_000, wall_ms: performance.now() - start };
}

async function lanes(total, atOnce) {
  let left = total;
  const lane = async () => {
    while ((left -= 1) >= 0) await peer.run();
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
}

const sizeOf = () => readdirSync(folder).reduce((sum, file) => sum + statSync(join(folder, file)).size, 0);

try {
  await lanes(warmUp, 8);
  const one = await measured(() => lanes(Number(alone), 1));
  const many = await measured(() => lanes(Number(together), 64));
  // Closed, so that nothing of it is left in a log that is written again and again.
  await peer.close();
  const disk = sizeOf();
  peer = await open({ folder, delayMs: 50 });
  const children =
    peer.children === undefined
      ? {}
      : {
          children_100_at_50_ms: (await measured(() => peer.children(100))).wall_ms,
          fan_out_1000_cpu_ms: (await measured(() => peer.children(1_000))).cpu_ms,
        };
  const figures = {
    import_ms,
    alone_cpu_ms: one.cpu_ms / Number(alone),
    alone_wall_ms: one.wall_ms / Number(alone),
    at_64_cpu_ms: many.cpu_ms / Number(together),
    at_64_per_s: (Number(together) / many.wall_ms) * 1_000,
    loaded_mb: loaded / 2 ** 20,
    peak_mb: process.resourceUsage().maxRSS / 1_024,
    disk_kb: disk / 1_024 / (warmUp + Number(alone) + Number(together)),
    ...children,
  };
  console.log(JSON.stringify(figures));
} finally {
  await peer.close();
  rmSync(folder, { recursive: true, force: true });
}
process.exit(0);
