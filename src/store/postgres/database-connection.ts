// Connections to PostgreSQL: a pool for reads, single ones that come back by themselves, and rows in our own types.

import type { SQLOutputValue } from "node:sqlite";

import pg from "pg";

import { TuttiError } from "../../protocol/error.ts";
import { readDatabaseUrl } from "./database-url.ts";
import { readText } from "./stored-text.ts";

export type Row = Record<string, SQLOutputValue>;

export interface DatabaseAddress {
  readonly url: string;
  /** The schema that holds everything of this Tutti. */
  readonly schema: string;
}

export interface QueryOptions {
  /** Prepared once for each connection under this name. */
  readonly name?: string;
  /** After so long without an answer the connection counts as lost. */
  readonly timeoutMs?: number;
}

const connectMs = 5_000;
/** How long the end of a connection may take. */
const endMs = 2_000;

/** Whole numbers come as numbers: all that are stored are safe integers. Everything else stays text. */
const types: pg.CustomTypesConfig = {
  getTypeParser: (type: number) => {
    if (type === 20 || type === 21 || type === 23 || type === 1700 || type === 701)
      return (value: string) => Number(value);
    if (type === 16) return (value: string) => Number(value === "t");
    return (value: string) => (typeof value === "string" ? readText(value) : value);
  },
};

function configOf({ url, schema }: DatabaseAddress): pg.ClientConfig {
  const { connectionString, ssl, options } = readDatabaseUrl(url);
  return {
    connectionString,
    ...(ssl === undefined ? {} : { ssl }),
    // Ours come last, and the last one counts.
    options: `${options} -c search_path=${schema} -c timezone=UTC`.trim(),
    application_name: "tutti",
    connectionTimeoutMillis: connectMs,
    keepAlive: true,
    types,
  };
}

export async function connectTo(address: DatabaseAddress): Promise<pg.Client> {
  const client = new pg.Client(configOf(address));
  // A connection that is lost while nobody uses it is noticed at its next use.
  client.on("error", () => undefined);
  await client.connect();
  return client;
}

/** Never rejects, and waits only so long for a server that does not answer. */
export async function endConnection(client: pg.Client | undefined): Promise<void> {
  if (client !== undefined) await withinEndMs(client.end());
}

async function withinEndMs(ending: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, endMs)));
  await Promise.race([ending.catch(() => undefined), late]);
  clearTimeout(timer);
}

export async function ask(
  client: Pick<pg.ClientBase, "query">,
  sql: string,
  values: readonly unknown[] = [],
  { name, timeoutMs }: QueryOptions = {},
): Promise<Row[]> {
  const config = { text: sql, values: [...values], ...(name === undefined ? {} : { name }) };
  // The driver's own limit for one query; its types do not name it.
  const limited = timeoutMs === undefined ? config : { ...config, query_timeout: timeoutMs };
  const { rows } = await client.query<Row>(limited);
  return rows;
}

/** Reads, each on a connection of its own. */
export interface Reads {
  rows(sql: string, values?: readonly unknown[]): Promise<Row[]>;
  /** Several statements on one connection, which may take long. */
  through<T>(work: (client: Pick<pg.ClientBase, "query">) => Promise<T>): Promise<T>;
  /** Reads that are under way or wait for a connection end at once with `stopped`, and so does every later one. */
  end(): Promise<void>;
}

export function readsFrom(address: DatabaseAddress, connections = 4): Reads {
  const pool = new pg.Pool({ ...configOf(address), max: connections, idleTimeoutMillis: 10_000 });
  pool.on("error", () => undefined);
  /** The pool forgets those that wait for a connection when it is ended. */
  const waiting = new Set<(reason: TuttiError) => void>();
  let ended: Promise<void> | undefined;
  return {
    rows: (sql, values = []) =>
      new Promise((resolve, reject) => {
        if (ended !== undefined) return reject(readsEnded());
        waiting.add(reject);
        ask(pool, sql, values, { timeoutMs: 30_000 })
          .then(resolve, reject)
          .finally(() => waiting.delete(reject));
      }),
    async through(work) {
      if (ended !== undefined) throw readsEnded();
      const client = await pool.connect();
      // A connection that is lost between two statements is noticed at the next one.
      const lost = (): void => undefined;
      client.on("error", lost);
      let isWhole = false;
      try {
        const done = await work(client);
        isWhole = true;
        return done;
      } finally {
        client.off("error", lost);
        client.release(!isWhole);
      }
    },
    end() {
      if (ended !== undefined) return ended;
      ended = withinEndMs(pool.end());
      for (const reject of waiting) reject(readsEnded());
      return ended;
    },
  };
}

function readsEnded(): TuttiError {
  return new TuttiError("stopped", "this node is being stopped or joins anew; ask again, or ask another node");
}
