// Runs a real daemon with people, operators, workers and readers, interrupts it at random instants, and checks the outcome.
// node test/e2e/cuts.ts --cuts 200 --seed 1 [--store postgres]

import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";

import { ServiceStatus } from "../../src/protocol/api/service.ts";
import { JoinedOperator } from "../../src/protocol/operator/operator-session.ts";
import { checkDatabase, checkLog, checkSharedDatabase, isEnd, unfinished, wholeLog } from "./cuts/check-after-cuts.ts";
import { type Cut, makeCuts } from "./cuts/make-cuts.ts";
import type { Fault, FaultKind } from "./cuts/cuts-ledger.ts";
import { CutOperator } from "./cuts/cuts-operator.ts";
import { answerAsks, pauseNowAndThen, settleWaits, startWork } from "./cuts/cuts-people.ts";
import type { Fetched } from "./cuts/cuts-worker.ts";
import { roles } from "./cuts/cuts-invocations.ts";
import { CutsRun } from "./cuts/cuts-run.ts";
import { startPostgres } from "../support/postgres-server.ts";
import { DaemonProcess } from "./daemon-process.ts";
import { EventReader, readerProblems } from "./event-reader.ts";

export interface CutsTally {
  readonly cuts: number;
  readonly tasks: number;
  /** Acknowledged and not there, or there with another content; or refused although it may not be. */
  readonly lost: number;
  /** Took effect twice. */
  readonly doubled: number;
  readonly unfinished: number;
  /** A reader missed an event, saw it twice, or saw it in another place. */
  readonly out_of_order: number;
}

export interface CutsVerdict {
  readonly tally: CutsTally;
  readonly problems: readonly string[];
  /** How much of it the run really met. */
  readonly figures: Readonly<Record<string, number>>;
}

/** What is still open after the last cut has this long to end. */
const patienceMs = 60_000;

export interface CutsOptions {
  readonly cuts: number;
  readonly seed: number;
  /** The daemon is a node over a PostgreSQL of its own. */
  readonly onPostgres?: boolean;
  /** The cuts to begin with; the others are chosen at random. */
  readonly first?: readonly Cut[];
}

export async function cuts(options: CutsOptions): Promise<CutsVerdict> {
  const server = options.onPostgres === true ? startPostgres() : undefined;
  const address = server === undefined ? undefined : { url: server.url, schema: "cuts" };
  const args = address === undefined ? [] : ["--database", address.url, "--schema", address.schema, "--node", "cut"];
  const daemon = new DaemonProcess({ args });
  const checkRecords = async (): Promise<Fault[]> =>
    address === undefined ? checkDatabase(daemon.state) : checkSharedDatabase(address);
  try {
    await daemon.up();
    return await inRun(new CutsRun(daemon, options.seed), options, checkRecords);
  } finally {
    await daemon.close();
    server?.stop();
  }
}

export function isClean({ tally, problems }: CutsVerdict): boolean {
  return tally.lost + tally.doubled + tally.unfinished + tally.out_of_order === 0 && problems.length === 0;
}

async function inRun(
  run: CutsRun,
  { cuts: number, first }: CutsOptions,
  checkRecords: () => Promise<Fault[]>,
): Promise<CutsVerdict> {
  const [readers, trees] = [startReaders(run), new Map<string, EventReader>()];
  const fetched: Fetched = new Map();
  const operators = await Promise.all(
    Object.values(roles).map(async (role) => {
      const reply = await run.ask({ method: "POST", path: "/v1/operators", body: { roles: [role] } });
      return new CutOperator(run, JoinedOperator.parse(reply.json), fetched);
    }),
  );
  const enough = new AbortController();
  const helpers = [answerAsks(run, enough.signal), settleWaits(run, enough.signal)];
  const actors = [startWork(run), pauseNowAndThen(run), readTrees(run, trees)];
  try {
    await makeCuts({ run, operators, readers: () => [...readers, ...trees.values()] }, number, first);
    run.finish();
    await Promise.all(actors);
    await allEnded(run);
    enough.abort();
    await Promise.all(helpers);
    await run.quiet();
    return await verdict(run, { readers, trees, number, checkRecords });
  } finally {
    run.finish();
    enough.abort();
    for (const operator of operators) operator.close();
    await Promise.all([...readers, ...trees.values()].map((reader) => reader.close()));
  }
}

/** The first one also tells everybody what has ended. */
function startReaders(run: CutsRun): EventReader[] {
  const { daemon, key } = run;
  const url = (): string => daemon.url;
  const onEnd = {
    onEvent: (event: EventReader["heard"][number]) => void (isEnd(event) && run.ends.set(event.task, event)),
  };
  return [new EventReader({ url, key, ...onEnd }), new EventReader({ url, key }), new EventReader({ url, key })];
}

/** Some trees are read by themselves. */
async function readTrees(run: CutsRun, trees: Map<string, EventReader>): Promise<void> {
  const looked = new Set<string>();
  while (!run.over.aborted) {
    for (const { task } of run.ledger.started.values()) {
      if (looked.has(task)) continue;
      looked.add(task);
      if (run.chance(0.1)) trees.set(task, new EventReader({ url: () => run.daemon.url, key: run.key, task }));
    }
    await sleep(30);
  }
}

async function allEnded(run: CutsRun): Promise<void> {
  const { started } = run.ledger;
  const open = (): boolean => [...started.values()].some(({ task }) => !run.ends.has(task));
  for (const until = Date.now() + patienceMs; open() && Date.now() < until;) await sleep(25);
}

async function verdict(
  run: CutsRun,
  read: {
    readonly readers: readonly EventReader[];
    readonly trees: Map<string, EventReader>;
    readonly number: number;
    /** When the daemon has stopped. */
    readonly checkRecords: () => Promise<Fault[]>;
  },
): Promise<CutsVerdict> {
  const { ledger, daemon } = run;
  const settled = (): Promise<unknown> =>
    Promise.race([
      Promise.all([...read.trees.values()].map((reader) => reader.ended)),
      sleep(10_000, undefined, { ref: false }),
    ]);
  await settled();
  const { seq } = ServiceStatus.parse((await run.ask({ path: "/v1/status" })).json);
  await Promise.race([
    Promise.all(read.readers.map((reader) => reader.reached(seq))),
    sleep(10_000, undefined, { ref: false }),
  ]);
  const log = await wholeLog(run);
  const outOfOrder = [
    ...read.readers.flatMap((reader) => readerProblems(reader, log)),
    ...[...read.trees].flatMap(([task, reader]) =>
      readerProblems(
        reader,
        log.filter((event) => event.root === task),
      ),
    ),
  ];
  const open = unfinished(log);
  if ((await daemon.stop()) !== 0) ledger.faults.push({ kind: "lost", text: "the last stop was not a clean one" });
  if (daemon.output.includes("still kept this process"))
    ledger.faults.push({ kind: "lost", text: "the daemon left something open when it was stopped" });
  const faults = [...ledger.faults, ...checkLog(ledger, log), ...(await read.checkRecords())];
  const inKind = (kind: FaultKind): Fault[] => faults.filter((each) => each.kind === kind);
  return {
    tally: {
      cuts: read.number,
      tasks: log.filter(({ type }) => type === "task.created").length,
      lost: inKind("lost").length,
      doubled: inKind("doubled").length,
      unfinished: open.length,
      out_of_order: outOfOrder.length + inKind("out_of_order").length,
    },
    problems: [...faults.map(({ kind, text }) => `${kind}: ${text}`), ...open, ...outOfOrder],
    figures: { ...ledger.figures, invocations: ledger.started.size, events: log.length, trees_read: read.trees.size },
  };
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      cuts: { type: "string", default: "200" },
      seed: { type: "string", default: "1" },
      store: { type: "string", default: "sqlite" },
    },
  });
  const onPostgres = values.store === "postgres";
  const result = await cuts({ cuts: Number(values.cuts), seed: Number(values.seed), onPostgres });
  for (const problem of result.problems.slice(0, 50)) console.error(problem);
  console.log(JSON.stringify(result.figures));
  console.log(JSON.stringify(result.tally));
  process.exitCode = isClean(result) ? 0 : 1;
}
