// Cuts at random instants: kills and stops the daemon, drops and takes over connections, breaks streams and requests off.

import { setTimeout as sleep } from "node:timers/promises";

import { ServiceStatus } from "../../../src/protocol/api/service.ts";
import type { EventReader } from "../event-reader.ts";
import { count, fault } from "./cuts-ledger.ts";
import type { CutOperator } from "./operator.ts";
import type { World } from "./cuts-world.ts";

export interface Cuttable {
  readonly world: World;
  readonly operators: readonly CutOperator[];
  readonly readers: () => readonly EventReader[];
}

/** Relative weights. */
const weights = { kill: 10, stop: 2, socket: 3, takeover: 2, stream: 3, request: 3 } as const;
type Cut = keyof typeof weights;

const total = Object.values(weights).reduce((sum, weight) => sum + weight, 0);
const names = Object.keys(weights).filter((name): name is Cut => name in weights);

function nextCut(world: World): Cut {
  let at = world.between(0, total);
  return names.find((name) => (at -= weights[name]) < 0) ?? "kill";
}

export async function makeCuts(cuttable: Cuttable, cuts: number): Promise<void> {
  const { world } = cuttable;
  for (let done = 0; done < cuts; done += 1) {
    await sleep(world.between(20, 450));
    const cut = nextCut(world);
    count(world.ledger, `cut: ${cut}`);
    await carryOut(cuttable, cut);
  }
}

async function carryOut({ world, operators, readers }: Cuttable, cut: Cut): Promise<void> {
  const { daemon } = world;
  switch (cut) {
    case "kill":
      await daemon.kill();
      daemon.launch();
      if (world.chance(0.25)) {
        // Hits the start, the recovery, or the first moments after.
        await sleep(world.between(100, 1_200));
        await daemon.kill();
        daemon.launch();
        count(world.ledger, "killed while starting");
      }
      await daemon.ready();
      return checkPaused(world);
    case "stop": {
      const exit = await daemon.stop();
      if (exit !== 0) fault(world.ledger, "lost", `the daemon was stopped and ended with ${exit}`);
      await daemon.up();
      return checkPaused(world);
    }
    case "socket":
      return pick(world, operators)?.drop();
    case "takeover":
      return pick(world, operators)?.takeOver();
    case "stream":
      for (const reader of readers()) if (world.chance(0.6)) reader.drop();
      return;
    case "request":
      return world.cutNextRequests(Math.ceil(world.between(0, 5)));
  }
}

/** The last word that was acknowledged holds over the restart. */
async function checkPaused(world: World): Promise<void> {
  const before = world.paused;
  const reply = await world.ask({ path: "/v1/status" });
  const status = ServiceStatus.safeParse(reply.json);
  if (!status.success) return fault(world.ledger, "lost", `the status after a restart: ${reply.status} ${reply.text}`);
  if (before === undefined || world.paused !== before || status.data.paused === before) return;
  fault(world.ledger, "lost", `paused was ${before} before the restart and ${status.data.paused} after it`);
}

function pick<T>(world: World, values: readonly T[]): T | undefined {
  return values[Math.floor(world.between(0, values.length))];
}
