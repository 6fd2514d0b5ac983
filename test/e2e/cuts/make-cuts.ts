// Interrupts at random instants: kills or stops the daemon, drops or takes over connections, breaks off streams and requests.

import { setTimeout as sleep } from "node:timers/promises";

import { ServiceStatus } from "../../../src/protocol/api/service.ts";
import type { EventReader } from "../event-reader.ts";
import { count, fault } from "./cuts-ledger.ts";
import type { CutOperator } from "./cuts-operator.ts";
import type { CutsRun } from "./cuts-run.ts";

export interface Cuttable {
  readonly run: CutsRun;
  readonly operators: readonly CutOperator[];
  readonly readers: () => readonly EventReader[];
}

/** Relative weights. */
const weights = { kill: 10, stop: 2, socket: 3, takeover: 2, stream: 3, request: 3 } as const;
export type Cut = keyof typeof weights;

const total = Object.values(weights).reduce((sum, weight) => sum + weight, 0);
const names = Object.keys(weights).filter((name): name is Cut => name in weights);

function nextCut(run: CutsRun): Cut {
  let at = run.between(0, total);
  return names.find((name) => (at -= weights[name]) < 0) ?? "kill";
}

/** `first`: the cuts to begin with; the others are chosen at random. */
export async function makeCuts(cuttable: Cuttable, cuts: number, first: readonly Cut[] = []): Promise<void> {
  const { run } = cuttable;
  for (let done = 0; done < cuts; done += 1) {
    await sleep(run.between(20, 450));
    const cut = first[done] ?? nextCut(run);
    count(run.ledger, `cut: ${cut}`);
    await carryOut(cuttable, cut);
  }
}

async function carryOut({ run, operators, readers }: Cuttable, cut: Cut): Promise<void> {
  const { daemon } = run;
  switch (cut) {
    case "kill":
      await daemon.kill();
      daemon.launch();
      if (run.chance(0.25)) {
        // Hits the start, the recovery, or the first moments after.
        await sleep(run.between(100, 1_200));
        await daemon.kill();
        daemon.launch();
        count(run.ledger, "killed while starting");
      }
      await daemon.ready();
      return checkPaused(run);
    case "stop": {
      const exit = await daemon.stop();
      if (exit !== 0) fault(run.ledger, "lost", `the daemon was stopped and ended with ${exit}`);
      await daemon.up();
      return checkPaused(run);
    }
    case "socket":
      return pick(run, operators)?.drop();
    case "takeover":
      return pick(run, operators)?.takeOver();
    case "stream":
      for (const reader of readers()) if (run.chance(0.6)) reader.drop();
      return;
    case "request":
      return run.cutNextRequests(Math.ceil(run.between(0, 5)));
  }
}

/** The last word that was acknowledged holds over the restart. */
async function checkPaused(run: CutsRun): Promise<void> {
  const before = run.paused;
  const reply = await run.ask({ path: "/v1/status" });
  const status = ServiceStatus.safeParse(reply.json);
  if (!status.success) return fault(run.ledger, "lost", `the status after a restart: ${reply.status} ${reply.text}`);
  if (before === undefined || run.paused !== before || status.data.paused === before) return;
  fault(run.ledger, "lost", `paused was ${before} before the restart and ${status.data.paused} after it`);
}

function pick<T>(run: CutsRun, values: readonly T[]): T | undefined {
  return values[Math.floor(run.between(0, values.length))];
}
