// Which faults the chaos makes, in which order, and how: kills, freezes past the lease, cuts of links, crashes of the database.

import { setTimeout as pause } from "node:timers/promises";

import type { PostgresServer } from "../support/postgres-server.ts";
import type { Chance } from "../support/seeded-random.ts";
import type { NodeSlot } from "./chaos-slot.ts";

export const faultKinds = ["kills", "freezes", "cuts", "crashes"] as const;
export type FaultKind = (typeof faultKinds)[number];
export type FaultCounts = Readonly<Record<FaultKind, number>>;

/** How often each of them happens beside the others when only a time is given. */
const usual: FaultCounts = { kills: 10, freezes: 4, cuts: 4, crashes: 1 };

export interface Faulty {
  readonly slots: readonly NodeSlot[];
  readonly server: PostgresServer;
  readonly leaseMs: number;
  readonly chance: Chance;
  /** When the database last came up: for two leases from then on nobody is buried. */
  upSince: number;
}

/** One of each first, so that a short run meets all of them; then as many as there is time for. */
export function* faultsFor(chance: Chance, until: number): Generator<FaultKind> {
  yield* faultKinds;
  const all = faultKinds.flatMap((kind) => Array.from({ length: usual[kind] }, () => kind));
  while (Date.now() < until) yield chance.any(all) ?? "kills";
}

/** Exactly so many, mixed. */
export function faultsOf(chance: Chance, counts: FaultCounts): FaultKind[] {
  const all = faultKinds.flatMap((kind) => Array.from({ length: counts[kind] }, () => kind));
  return all
    .map((kind) => ({ kind, at: chance.next() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ kind }) => kind);
}

/** Makes them one after the other; a node is hit by one at a time, but several nodes may be. */
export async function makeFaults(
  of: Faulty,
  faults: Iterable<FaultKind>,
  made: (kind: FaultKind) => void,
): Promise<void> {
  const healing = new Set<Promise<void>>();
  for (const kind of faults) {
    await pause(50 + of.chance.next() * 500);
    if (kind === "crashes") await crash(of);
    else {
      const healed = hit(of, kind, await victim(of));
      healing.add(healed);
      void healed.finally(() => healing.delete(healed));
    }
    made(kind);
  }
  await Promise.all(healing);
}

/** Mostly one that leaves another behind, so that somebody takes over. */
async function victim({ slots, chance }: Faulty): Promise<NodeSlot> {
  const fewest = chance.oneIn(5) ? 1 : 2;
  for (const end = Date.now() + 120_000; Date.now() < end; await pause(20)) {
    const well = slots.filter(({ isWell }) => isWell);
    const found = well.length < fewest ? undefined : chance.any(well);
    if (found !== undefined) return found;
  }
  throw new Error(`no node came up: ${slots.flatMap(({ problems }) => problems).join("; ")}`);
}

async function hit({ leaseMs, chance, upSince }: Faulty, kind: FaultKind, slot: NodeSlot): Promise<void> {
  if (kind === "kills") {
    await slot.kill();
    // At once, so that it takes back its own trees; or after the others have taken them.
    if (chance.oneIn(2)) await pause(chance.next() * 2 * leaseMs);
    slot.start();
  } else if (kind === "freezes") {
    slot.freeze();
    // Long enough that its trees are elsewhere when it wakes up.
    const unprotected = upSince + 2.5 * leaseMs - Date.now();
    await pause(Math.max(unprotected, leaseMs * (1.3 + chance.next() * 1.7)));
    slot.thaw();
  } else {
    slot.cut = true;
    slot.link.cut();
    await pause(leaseMs * (0.4 + chance.next() * 2.6));
    slot.link.heal();
    slot.cut = false;
  }
}

async function crash(of: Faulty): Promise<void> {
  const { server, chance } = of;
  server.kill();
  await pause(chance.next() * 700);
  await server.startAfterKill();
  of.upSince = Date.now();
}
