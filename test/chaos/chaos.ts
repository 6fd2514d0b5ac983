// Three nodes over one PostgreSQL with trees of every kind, while nodes are killed and frozen, links cut and the database crashed.
// node test/chaos/chaos.ts --seconds 60 --seed 1
// node test/chaos/chaos.ts --kills 500 --freezes 200 --cuts 200 --crashes 50

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";

import { prepareDatabase } from "../../src/store/postgres/database.ts";
import { ask, connectTo, type DatabaseAddress, readsFrom } from "../../src/store/postgres/database-connection.ts";
import { startPostgres } from "../support/postgres-server.ts";
import { chance } from "../support/seeded-random.ts";
import { type ChangingReader, readChanging } from "./changing-reader.ts";
import { ChaosClient } from "./chaos-client.ts";
import { type FaultCounts, faultKinds, faultsFor, faultsOf, makeFaults } from "./chaos-faults.ts";
import { plants } from "./chaos-request.ts";
import { NodeSlot } from "./chaos-slot.ts";
import { type ChaosFindings, checkChaos } from "./check-after-chaos.ts";
import { openLink } from "./database-link.ts";

export interface ChaosOptions {
  readonly seed: number;
  /** For so long faults are made; not used when they are counted. */
  readonly seconds?: number;
  readonly counts?: FaultCounts;
  readonly leaseMs?: number;
  /** A fault that is put in on purpose. */
  readonly plant?: (typeof plants)[number] | undefined;
  readonly onProgress?: (line: string) => void;
}

export interface ChaosTally extends FaultCounts {
  readonly trees: number;
  /** Acknowledged and not there, or there with another content; or refused although it may not be. */
  readonly lost: number;
  /** Run again although its outcome had been recorded; or ended a second time. */
  readonly repeated: number;
  /** Took effect twice although it may not. */
  readonly doubled: number;
  readonly unfinished: number;
  /** Missed by a reader, seen twice, or out of order. */
  readonly missed_events: number;
}

export interface ChaosVerdict {
  readonly tally: ChaosTally;
  readonly problems: readonly string[];
  readonly figures: Readonly<Record<string, number>>;
}

const [nodes, lanes] = [3, 24];
const schema = "chaos";
/** After the last fault: when nothing happens for so long, what is open stays open. */
const stuckMs = 30_000;
const progressMs = 5_000;

export async function chaos(options: ChaosOptions): Promise<ChaosVerdict> {
  const { seed, seconds = 30, counts, leaseMs = 1_000, plant, onProgress } = options;
  const folder = mkdtempSync(join(tmpdir(), "tutti-chaos-"));
  const server = startPostgres();
  const upSince = Date.now();
  const address = { url: server.url, schema };
  const random = chance(seed);
  const links = await Promise.all(Array.from({ length: nodes }, () => openLink(join(server.folder, ".s.PGSQL.5432"))));
  const slots = links.map((link, at) => new NodeSlot({ name: `n${at + 1}`, link, schema, folder, leaseMs, plant }));
  const over = new AbortController();
  let reader: ChangingReader | undefined;
  let telling: NodeJS.Timeout | undefined;
  try {
    const salt = await prepare(address, plant === "no-fence");
    for (const slot of slots) slot.start();
    await allUp(slots);
    const client = new ChaosClient({ slots, chance: random, salt });
    reader = readChanging(
      (after) => client.page(after),
      (event) => client.see(event),
    );
    const made = { kills: 0, freezes: 0, cuts: 0, crashes: 0 };
    const tell = (): void => onProgress?.(progress({ ...made }, { client, slots, after: reader?.after ?? 0 }));
    telling = setInterval(tell, progressMs).unref();
    const work = Array.from({ length: lanes }, (_, lane) => client.lane(lane, over.signal));
    const faults = counts === undefined ? faultsFor(random, Date.now() + seconds * 1_000) : faultsOf(random, counts);
    await makeFaults({ slots, server, leaseMs, chance: random, upSince }, faults, (kind) => (made[kind] += 1));
    over.abort();
    onProgress?.("no more faults; waiting for what is open");
    await allUp(slots);
    await quiet(address, { client, reader, lanes: Promise.all(work) });
    await Promise.all(slots.map((slot) => slot.stop()));
    await reader.close();
    const found = await checkChaos(address, salt, folder, { client, reader });
    return verdict({ ...made, trees: client.started }, found, slots);
  } finally {
    clearInterval(telling);
    over.abort();
    await Promise.all(slots.map((slot) => slot.kill()));
    await reader?.close();
    for (const link of links) link.close();
    server.stop();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

export function isClean({ tally, problems }: ChaosVerdict): boolean {
  const { lost, repeated, doubled, unfinished, missed_events } = tally;
  return lost + repeated + doubled + unfinished + missed_events === 0 && problems.length === 0;
}

/** Returns the salt of the names. */
async function prepare(address: DatabaseAddress, withoutFence: boolean): Promise<string> {
  const connection = await connectTo(address);
  try {
    await prepareDatabase(connection, address.schema);
    if (withoutFence) {
      const sql = `SELECT pg_get_functiondef(oid) AS sql FROM pg_proc
        WHERE proname = 'pass_fence' AND pronamespace = current_schema()::regnamespace`;
      const [made] = await ask(connection, sql);
      await connection.query(String(made?.["sql"]).replace("AND alive AND last_batch", "AND last_batch"));
    }
    const [salt] = await ask(connection, "SELECT value FROM meta WHERE key = 'salt'");
    return String(salt?.["value"]);
  } finally {
    await connection.end();
  }
}

async function allUp(slots: readonly NodeSlot[]): Promise<void> {
  for (const end = Date.now() + 60_000; slots.some(({ port }) => port === undefined); await pause(20)) {
    if (Date.now() > end) throw new Error(`the nodes do not come up: ${slots.flatMap((slot) => slot.problems).join()}`);
  }
}

interface Outside {
  readonly client: ChaosClient;
  readonly reader: ChangingReader;
  readonly lanes: Promise<unknown>;
}

/** Resolves when nothing is open and everything was read; or when it does not get on any more, which the check then finds. */
async function quiet(address: DatabaseAddress, { client, reader, lanes: starting }: Outside): Promise<void> {
  const reads = readsFrom(address, 1);
  const sql = `SELECT (SELECT count(*) FROM trees WHERE open) + (SELECT count(*) FROM due_batches) AS open,
    (SELECT next - 1 FROM counter) AS last`;
  let started = false;
  void starting.then(() => (started = true));
  let before = "";
  try {
    for (let stuckAt = Date.now() + stuckMs; Date.now() < stuckAt; await pause(50)) {
      const [row] = await reads.rows(sql);
      if (started && row?.["open"] === 0 && row["last"] === reader.after && client.working === 0) return;
      const now = JSON.stringify([row, reader.after, client.working, client.acks.length]);
      if (now !== before) stuckAt = Date.now() + stuckMs;
      before = now;
    }
  } finally {
    await reads.end();
  }
}

function progress(
  made: FaultCounts,
  {
    client,
    slots,
    after,
  }: { readonly client: ChaosClient; readonly slots: readonly NodeSlot[]; readonly after: number },
): string {
  const faults = faultKinds.map((kind) => `${made[kind]} ${kind}`).join(", ");
  const fenced = slots.reduce((sum, slot) => sum + slot.fenced.length, 0);
  return `${faults}; ${client.started} trees, ${client.acks.length} acknowledged, ${after} events, ${fenced} fenced`;
}

function verdict(
  made: FaultCounts & { readonly trees: number },
  found: ChaosFindings,
  slots: readonly NodeSlot[],
): ChaosVerdict {
  const fenced = slots.flatMap((slot) => slot.fenced);
  // Two nodes wrote the same row: only a unique key stood against it.
  const unnamed = fenced.filter(({ named }) => !named).map(({ message }) => `not refused by the fence: ${message}`);
  const doubled = [...found.doubled, ...unnamed];
  const others = [...found.others, ...slots.flatMap(({ problems }) => problems)];
  const { lost, repeated, unfinished, missed_events } = found;
  return {
    tally: {
      ...made,
      lost: lost.length,
      repeated: repeated.length,
      doubled: doubled.length,
      unfinished: unfinished.length,
      missed_events: missed_events.length,
    },
    problems: [lost, repeated, doubled, unfinished, missed_events, others].flatMap((each) => each.slice(0, 5)),
    figures: { ...found.figures, fenced: fenced.length },
  };
}

if (import.meta.main) {
  const text = (value?: string) => ({ type: "string" as const, ...(value === undefined ? {} : { default: value }) });
  const { values } = parseArgs({
    options: {
      seconds: text("60"),
      seed: text("1"),
      lease: text("1000"),
      plant: text(),
      kills: text(),
      freezes: text(),
      cuts: text(),
      crashes: text(),
    },
  });
  const isCounted = faultKinds.some((kind) => values[kind] !== undefined);
  const count = (kind: (typeof faultKinds)[number]): number => Number(values[kind] ?? 0);
  const verdictOf = await chaos({
    seed: Number(values.seed),
    seconds: Number(values.seconds),
    leaseMs: Number(values.lease),
    plant: plants.find((each) => each === values.plant),
    ...(isCounted
      ? {
          counts: {
            kills: count("kills"),
            freezes: count("freezes"),
            cuts: count("cuts"),
            crashes: count("crashes"),
          },
        }
      : {}),
    onProgress: (line) => console.error(line),
  });
  for (const problem of verdictOf.problems) console.error(problem);
  console.log(JSON.stringify(verdictOf.figures));
  console.log(JSON.stringify(verdictOf.tally));
  process.exitCode = isClean(verdictOf) ? 0 : 1;
}
