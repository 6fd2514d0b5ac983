// The documents of a cluster: rows in the database, of which every node and every command has a copy to read from.

import { hostname, userInfo } from "node:os";

import type pg from "pg";

import { type Changer, seenByAll } from "../../cluster/seen-by-all.ts";
import { TuttiError } from "../../protocol/error.ts";
import { ask, connectTo, type DatabaseAddress, type Row } from "../../store/postgres/database-connection.ts";
import type { NodeStore } from "../../store/postgres/postgres-store.ts";
import { keyChecksOver, otherKeyError } from "../../store/postgres/key-check.ts";
import {
  allDocuments,
  changeDocument,
  type DocumentRow,
  type NewDocument,
} from "../../store/postgres/shared-documents.ts";
import { storageError } from "../../store/postgres/storage-error.ts";
import type { ClusterKey } from "../cluster/cluster-key.ts";
import type { Documents } from "./documents.ts";

/** Where the rows are read and changed. */
interface DocumentTable {
  find(name: string): Pick<DocumentRow, "body" | "version"> | undefined;
  /** False when somebody else was first. Then `find` gives what they left. */
  put(changed: NewDocument): Promise<boolean>;
  /** Brings in what others have changed. */
  catchUp(): Promise<void>;
  /** Resolves when every node has what is here. */
  seenByAll(): Promise<void>;
}

export interface ClusterDocumentsOptions {
  /** Names that the person gave to projects on this machine, by folder, because they lie elsewhere on other machines. */
  readonly projects?: ReadonlyMap<string, string>;
  readonly by: string;
  readonly key: () => ClusterKey;
  /** Why nothing can be asked of this node any more; undefined while it can. */
  readonly over?: () => TuttiError | undefined;
}

/** Somebody else changed it every time: nothing is that busy. */
const mostTries = 50;

/** Of a node that has joined. */
export function nodeDocuments(
  node: Pick<NodeStore, "document" | "changeDocument" | "catchUp"> & Changer,
  options: ClusterDocumentsOptions,
): Documents {
  const table: DocumentTable = {
    find: (name) => node.document(name),
    put: (changed) => node.changeDocument(changed),
    catchUp: () => node.catchUp(),
    seenByAll: () => seenByAll(node, options.over),
  };
  return documentsIn(table, options);
}

/** Of a command: a copy as of now. Nothing stays connected. */
export async function commandDocuments(address: DatabaseAddress, options: ClusterDocumentsOptions): Promise<Documents> {
  const known = await connected(address, keyChecksOver);
  const key = (): ClusterKey => {
    const own = options.key();
    if (known.now !== undefined && known.now !== own.check) throw otherKeyError(own.check, known.before);
    return own;
  };
  return documentsOver((work) => connected(address, work), { ...options, key });
}

/** Over a connection that the caller has, within its transaction. */
export function documentsOn(
  client: Pick<pg.ClientBase, "query">,
  options: ClusterDocumentsOptions,
): Promise<Documents> {
  return documentsOver((work) => work((sql, values) => ask(client, sql, values)), options);
}

async function documentsOver(
  asking: <T>(work: (query: Query) => Promise<T>) => Promise<T>,
  options: ClusterDocumentsOptions,
): Promise<Documents> {
  let rows = await asking(allDocuments);
  return documentsIn(
    {
      find: (name) => rows.find((row) => row.name === name),
      put: (changed) =>
        asking(async (query) => {
          const made = await changeDocument(query, changed);
          rows = await allDocuments(query);
          return made !== undefined;
        }),
      async catchUp() {
        rows = await asking(allDocuments);
      },
      seenByAll: () =>
        asking(async (query) => {
          const [shared] = await query("SELECT version FROM shared_version");
          await seenByAll({ rows: query, sharedVersion: Number(shared?.["version"]) });
        }),
    },
    options,
  );
}

/** Under which agreements about the person's own config on this machine are kept. */
export const ownConfigHere = (): string => `the own config at ${hostname()}`;

/** The person at this machine. */
export function personHere(): string {
  return `${userInfo().username} at ${hostname()}`;
}

function documentsIn(table: DocumentTable, { projects = new Map(), by, key }: ClusterDocumentsOptions): Documents {
  const change: Documents["change"] = async (name, work) => {
    for (let tries = 0; tries < mostTries; tries += 1) {
      const found = table.find(name);
      const { after, result, sealedWith } = work(found?.body);
      if (after === undefined || after === found?.body) return result;
      if (await table.put({ name, version: found?.version ?? 0, body: after, by, sealedWith })) return result;
    }
    throw new TuttiError("busy", `${name} is changed by others all the time; try again`);
  };
  return {
    placeOf: (name) => `${name} in the database`,
    read: (name) => table.find(name)?.body,
    change,
    async takeBack(name, work) {
      // What was agreed to elsewhere a moment ago is taken back, too.
      await table.catchUp();
      const result = await change(name, work);
      // Also when nothing was there any more: whoever took it back may still be waiting for the others.
      await table.seenByAll();
      return result;
    },
    // The person's own config lies on this machine and says nothing about that of another one.
    projectOf: (folder) => (folder === "" ? ownConfigHere() : (projects.get(folder) ?? folder)),
    key,
    by,
  };
}

type Query = (sql: string, values?: readonly unknown[]) => Promise<Row[]>;

async function connected<T>(address: DatabaseAddress, work: (query: Query) => Promise<T>): Promise<T> {
  let client: pg.Client | undefined;
  try {
    const open = (client = await connectTo(address));
    return await work((sql, values) => ask(open, sql, values, { timeoutMs: 30_000 }));
  } catch (thrown) {
    throw storageError(thrown);
  } finally {
    await client?.end().catch(() => undefined);
  }
}
