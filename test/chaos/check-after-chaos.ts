// Compares the database after the last fault with what was acknowledged, with the effects that took place, and with what was read.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { taskName } from "../../src/store/names.ts";
import { ask, connectTo, type DatabaseAddress, type Row } from "../../src/store/postgres/database-connection.ts";
import { loadTrees } from "../../src/store/postgres/load-trees.ts";
import { openTreeCache } from "../../src/store/postgres/tree-cache.ts";
import { treeUnit } from "../../src/store/postgres/tree-ids.ts";
import { holes, type RecordProblems, recordProblems, type Rows } from "../crash/check-after-crash.ts";
import type { ChangingReader } from "./changing-reader.ts";
import type { ChaosClient } from "./chaos-client.ts";

/** What was wrong, in words, by what it is. */
export interface ChaosFindings {
  readonly lost: readonly string[];
  readonly repeated: readonly string[];
  readonly doubled: readonly string[];
  readonly unfinished: readonly string[];
  readonly missed_events: readonly string[];
  readonly others: readonly string[];
  readonly figures: Readonly<Record<string, number>>;
}

type Effect = readonly [incarnation: number, key: string, kind: string, at: number];
type Asking = (sql: string) => Promise<Row[]>;
const rootsAtOnce = 500;

export type Remembered = Pick<ChaosClient, "acks" | "lost" | "doubled" | "sends" | "keys" | "results">;

export async function checkChaos(
  address: DatabaseAddress,
  salt: string,
  folder: string,
  outside: { readonly client: Remembered; readonly reader: Pick<ChangingReader, "seen" | "disorder"> },
): Promise<ChaosFindings> {
  const connection = await connectTo(address);
  const cache = openTreeCache(join(folder, "check"), salt);
  try {
    const asking: Asking = (sql) => ask(connection, sql);
    const roots = (await asking("SELECT root FROM trees ORDER BY root")).map((row) => Number(row["root"]));
    for (let at = 0; at < roots.length; at += rootsAtOnce) {
      cache.load(await loadTrees(connection, roots.slice(at, at + rootsAtOnce)));
    }
    const rows: Rows = (sql) => cache.opened.database.prepare(sql).all();
    const { client, reader } = outside;
    const found = recordProblems(rows, client.acks);
    const effects = effectsIn(folder);
    const again = effectsAgain(await outcomes(asking, salt), await deaths(asking), effects);
    return {
      lost: [...client.lost, ...found.lost, ...changedResults(rows, client.results)],
      repeated: [...again.repeated, ...found.endedTwice],
      doubled: [...client.doubled, ...again.doubled, ...doubledRequests(rows, client)],
      unfinished: await unfinished(asking, found),
      missed_events: await missedEvents(asking, reader),
      others: [...found.others, ...holes(rows)],
      figures: await figures(asking, { acks: client.acks.length, effects, events: reader.seen.length }),
    };
  } finally {
    cache.opened.close();
    await connection.end();
  }
}

function effectsIn(folder: string): Effect[] {
  const file = join(folder, "effects.jsonl");
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n");
  return lines.filter((line) => line.endsWith("]")).map((line): Effect => JSON.parse(line));
}

/** By the key of the step: when its outcome was recorded. */
async function outcomes(asking: Asking, salt: string): Promise<Map<string, number>> {
  const sql = "SELECT l.key, l.at, r.task, r.attempt, r.run FROM log l JOIN runs r ON r.id = l.run";
  return new Map(
    (await asking(sql)).map((row) => [
      `${taskName(salt, Number(row["task"]))}/${String(row["attempt"])}.${String(row["run"])}/${String(row["key"])}`,
      Number(row["at"]),
    ]),
  );
}

/** By incarnation: when it was declared dead. */
async function deaths(asking: Asking): Promise<Map<number, number>> {
  const sql =
    "SELECT incarnation, floor(extract(epoch FROM died_at) * 1000)::bigint AS at FROM nodes WHERE died_at IS NOT NULL";
  return new Map((await asking(sql)).map((row) => [Number(row["incarnation"]), Number(row["at"])]));
}

/**
 * All nodes and the database have the clock of one machine. The line that records an outcome is made after the body, and a
 * body that begins later than that runs although its outcome is recorded. Only a node that was dead by then cannot know: one
 * that wakes up after its trees were taken may begin a step that can be repeated, until it hears that it is dead.
 */
function effectsAgain(
  recorded: ReadonlyMap<string, number>,
  died: ReadonlyMap<number, number>,
  effects: readonly Effect[],
): { readonly repeated: string[]; readonly doubled: string[] } {
  const done = new Map<string, number>();
  const repeated: string[] = [];
  const doubled: string[] = [];
  for (const [incarnation, key, kind, at] of effects) {
    const outcomeAt = recorded.get(key) ?? Infinity;
    const wasDead = (died.get(incarnation) ?? Infinity) <= outcomeAt;
    if (at > outcomeAt && !wasDead) repeated.push(`${key} ran at node ${incarnation} after its outcome was recorded`);
    if (kind === "once" && done.has(key)) doubled.push(`${key} was done at ${done.get(key)} and at ${incarnation}`);
    done.set(key, incarnation);
  }
  return { repeated, doubled };
}

function changedResults(rows: Rows, results: ReadonlyMap<number, string>): string[] {
  const kept = new Map(rows("SELECT task, body FROM results").map((row) => [Number(row["task"]), String(row["body"])]));
  return [...results]
    .filter(([task, body]) => kept.get(task) !== body)
    .map(([task]) => `the result of ${task} is another one than was told`);
}

/** One tree for each key, and no message more often than it was sent. */
function doubledRequests(rows: Rows, { keys, sends }: Pick<Remembered, "keys" | "sends">): string[] {
  const unasked = rows(
    "SELECT id, agent FROM tasks WHERE parent IS NULL AND id NOT IN (SELECT task FROM keys WHERE task IS NOT NULL)",
  ).map((row) => `the tree ${String(row["id"])} (${String(row["agent"])}) belongs to no key`);
  const unknown = rows("SELECT key FROM keys").filter((row) => !keys.has(String(row["key"])));
  const mail = rows(
    `SELECT mail.task, mail.body ->> '$.parts[0].data' AS said, COUNT(*) AS count FROM mail
     JOIN tasks ON tasks.id = mail.task WHERE tasks.agent = 'inbox' GROUP BY mail.task, said`,
  ).filter((row) => Number(row["count"]) > (sends.get(`${String(row["task"])} ${String(row["said"])}`) ?? 0));
  return [
    ...unasked,
    ...unknown.map((row) => `nobody used the key ${String(row["key"])}`),
    ...mail.map((row) => `a message was taken more often than it was sent: ${JSON.stringify(row)}`),
  ];
}

async function unfinished(asking: Asking, { unfinished: tasks }: RecordProblems): Promise<string[]> {
  const trees = await asking("SELECT root FROM trees WHERE open");
  const commands = await asking(
    "SELECT c.id FROM commands c JOIN trees t ON t.root = c.root WHERE c.outcome IS NULL AND t.open",
  );
  const batches = await asking("SELECT id FROM due_batches");
  return [
    ...tasks,
    ...trees.map((row) => `the tree ${String(row["root"])} is open`),
    ...commands.map((row) => `the command ${String(row["id"])} has no outcome`),
    ...batches.map((row) => `the batch ${String(row["id"])} has no place in the sequence`),
  ];
}

/** Missed, seen twice or in another order; and events of a tree that stand in another order than they were written. */
async function missedEvents(
  asking: Asking,
  { seen, disorder }: Pick<ChangingReader, "seen" | "disorder">,
): Promise<string[]> {
  const placed = "log l JOIN batches b ON b.id = l.batch WHERE l.type IS NOT NULL";
  const all = await asking(`SELECT b.base + l.place AS seq FROM ${placed} ORDER BY 1`);
  const read = new Set(seen);
  const missed = all.filter((row) => !read.has(Number(row["seq"])));
  const misplaced = await asking(`SELECT id FROM (SELECT l.id, b.base + l.place AS seq,
      lag(b.base + l.place) OVER (PARTITION BY l.id / ${treeUnit} ORDER BY l.id) AS before FROM ${placed}) AS ordered
    WHERE before >= seq`);
  const [counter] = await asking("SELECT next - 1 AS last FROM counter");
  return [
    ...missed.map((row) => `the event ${String(row["seq"])} was missed`),
    ...Array.from({ length: seen.length - read.size + disorder }, () => "an event was seen twice or out of order"),
    ...misplaced.map((row) => `the line ${String(row["id"])} stands before one of its tree that was written earlier`),
    ...(counter?.["last"] === all.length ? [] : [`the sequence has gaps: ${String(counter?.["last"])} ${all.length}`]),
  ];
}

async function figures(
  asking: Asking,
  counted: { readonly acks: number; readonly effects: readonly Effect[]; readonly events: number },
): Promise<Record<string, number>> {
  const one = async (sql: string): Promise<number> => Number((await asking(sql))[0]?.["value"]);
  const { acks, effects, events } = counted;
  return {
    acknowledged: acks,
    effects: effects.length,
    repeatable_again: effects.length - new Set(effects.map(([, key]) => key)).size,
    unknown: await one("SELECT count(*) AS value FROM log WHERE kind = 2"),
    trees_moved: await one("SELECT count(*) AS value FROM trees WHERE epoch > 1"),
    most_moves: await one("SELECT max(epoch) - 1 AS value FROM trees"),
    commands: await one("SELECT count(*) AS value FROM commands"),
    nodes: await one("SELECT count(*) AS value FROM nodes"),
    events,
  };
}
