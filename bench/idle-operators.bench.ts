// What a connected operator that has nothing to do costs a daemon: growth of the resident memory of its process from before
// 1,000 of them joined and connected to after, divided by 1,000. Each round has a daemon of its own; the best of several.
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

import { DaemonProcess } from "../test/e2e/daemon-process.ts";
import { joinAs, type WireOperator } from "../test/e2e/wire-operator.ts";
import { inLanes } from "./bench-engine.ts";
import { report, round } from "./measure.ts";

const [operators, warmUp, rounds, atOnce] = [1_000, 50, 3, 16];
const settleMs = 4_000;

function residentBytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const kb = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
  if (kb === undefined) throw new Error(`the memory of process ${pid} cannot be read`);
  return Number(kb) * 1024;
}

/** The least of a few looks once what had to be done is done. */
async function settled(pid: number): Promise<number> {
  let least = Infinity;
  for (let looks = 0; looks < 8; looks += 1) {
    await sleep(settleMs / 8);
    least = Math.min(least, residentBytes(pid));
  }
  return least;
}

async function connectSome(daemon: DaemonProcess, count: number): Promise<WireOperator[]> {
  const joined: WireOperator[] = [];
  await inLanes(count, atOnce, async () => {
    const operator = await joinAs(daemon, []);
    await operator.connect();
    joined.push(operator);
  });
  return joined;
}

async function bytesPerOperator(): Promise<number> {
  const daemon = new DaemonProcess();
  const all: WireOperator[] = [];
  try {
    await daemon.up();
    // What the first ones make it load and compile is not theirs.
    all.push(...(await connectSome(daemon, warmUp)));
    const before = await settled(daemon.pid);
    all.push(...(await connectSome(daemon, operators)));
    const after = await settled(daemon.pid);
    const { connected } = (await daemon.client().status()).operators;
    if (connected !== warmUp + operators) throw new Error(`${connected} are connected`);
    return (after - before) / operators;
  } finally {
    for (const operator of all) operator.close();
    await daemon.close();
  }
}

const each: number[] = [];
for (let turn = 0; turn < rounds; turn += 1) each.push((await bytesPerOperator()) / 1000);
report({
  name: "idle-operators",
  ratio: Math.min(...each),
  target: 60,
  figures: { kb_per_operator: each.map((kb) => round(kb, 1)), operators },
});
