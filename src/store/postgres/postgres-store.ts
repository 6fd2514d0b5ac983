// The store of one node of many: rows are durable in PostgreSQL through fenced commits, and read from the cache of the trees this node owns.

import type pg from "pg";

import type { TuttiError } from "../../protocol/error.ts";
import { type Salt, saltIn } from "../names.ts";
import type { ServiceRecords } from "../service-records.ts";
import { resultIn } from "../sqlite/rows.ts";
import { storeWith } from "../sqlite/sqlite-store.ts";
import type { ResultRow, Store } from "../store.ts";
import { movedAwayError, movedKey } from "../moved-mark.ts";
import { ask, connectTo, type DatabaseAddress, readsFrom, type Row } from "./database-connection.ts";
import { prepareDatabase, tooNewFor } from "./database.ts";
import { keyCheckRow, oldKeyChecks, otherKeyError, requireKeyCheck } from "./key-check.ts";
import { listenTo } from "./listener.ts";
import { idsIn, type LoadedTrees, loadTrees, unknownIn } from "./load-trees.ts";
import { isSchemaLabel, type KnownSchema, knownSchema, schemaLabels } from "./schema.ts";
import { stamper } from "./sequence.ts";
import { changeDocument, type DocumentRow, type NewDocument } from "./shared-documents.ts";
import { allShared, type SharedChange, type SharedRows } from "./shared-rows.ts";
import { storageError } from "./storage-error.ts";
import { storedText } from "./stored-text.ts";
import { openTreeCache } from "./tree-cache.ts";
import { rootOf, TreeIds, type TreeNumbers } from "./tree-ids.ts";
import { BatchWriter } from "./writer.ts";

/** How this node is known to the others. */
export interface NodeIdentity {
  readonly name: string;
  /** Where the other nodes reach it. */
  readonly url: string;
  readonly labels: readonly string[];
  readonly version: string;
  readonly leaseMs: number;
  /** Of the machine and the state folder: a node that comes back in the same place takes up its trees at once. */
  readonly machine?: string | undefined;
  /** Shows that the node has the key of the cluster. */
  readonly keyCheck?: string | undefined;
}

/** A node that has joined: plain data, from which its store is opened. */
export interface JoinedNode {
  readonly salt: Salt;
  readonly incarnation: number;
  readonly numbers: TreeNumbers;
  readonly shared: SharedRows;
}

/** The store of a node, and what only a store that several nodes share can do. */
export interface NodeStore {
  readonly store: Store & { readonly records: ServiceRecords };
  readonly incarnation: number;
  /** Of the last change of shared rows that is in. */
  readonly sharedVersion: number;
  /** How often a commit was sent again because its answer was lost. */
  readonly resent: number;
  /**
   * Brings the rows of trees here that this node has taken over. Returns those that a newer version recorded, with a word that
   * this one does not know; they must not be gone on with.
   */
  load(roots: readonly number[]): Promise<ReadonlyMap<number, string>>;
  /** The same with rows that were read before. */
  loaded(trees: LoadedTrees): void;
  /** The trees are with another node from now on. */
  forget(roots: readonly number[]): void;
  /** Called when any node has given events their place in the sequence. */
  onStamp(listener: () => void): () => void;
  /** Called with shared rows that were changed, by this node or another one, after they are in. */
  onShared(listener: (changes: readonly SharedChange[]) => void): () => void;
  /** Resolves when every change of shared rows is in that any node had committed when this was called. */
  catchUp(): Promise<void>;
  /** Called with what is said about commands: the root of a tree that has new ones, or `done` and the id of one. */
  onCommand(listener: (payload: string) => void): () => void;
  /** How much is queued for the next commit. */
  readonly queuedWrites: number;
  /** What the command does is in the commit that is being queued. */
  takeCommand(id: number): void;
  endCommand(id: number, outcome: string): void;
  /** The operator is connected to this node, over this connection. An earlier one, of whichever node, is replaced. */
  placeOperator(sid: string, connection: string): void;
  /** The connection is closed. */
  leavePlace(sid: string, connection: string): void;
  /** In the commit that makes the tree: what it needs, and whether it runs here or is left to a node that has all of it. */
  placeTree(root: number, place: { readonly needs: readonly string[]; readonly here: boolean }): void;
  /** The tree was started by this node in its present life. */
  isMadeHere(root: number): boolean;
  /** Brings a tree here that is over, to be looked at. */
  bringClosed(root: number): Promise<void>;
  /** Brings here what is known of a key and of the task that it is bound to. */
  bringKey(key: string): Promise<void>;
  /** Of those of the tasks that are over, of whichever tree. */
  results(tasks: readonly number[]): Promise<ResultRow[]>;
  rows(sql: string, values?: readonly unknown[]): Promise<Row[]>;
  /** As this node has seen it last. */
  document(name: string): DocumentRow | undefined;
  /** False when somebody else changed it first. Either way this node has then seen the document as it is now. */
  changeDocument(changed: NewDocument): Promise<boolean>;
  /** Nothing more is accepted: the node knows itself that it may be dead. */
  fail(failure: TuttiError): void;
  /** Ends the connections; nothing that is still queued is sent. */
  close(): Promise<void>;
}

/** Numbers of new trees that a node fetches at a time. */
export const numbersAtOnce = 1_024;
/** Trees that are over stay in the cache until so many more are, for whoever asks for a result at once. */
const keptClosed = 100;

/** Brings the database up to date and joins: from now on the node is expected to renew its lease. */
export async function joinDatabase(
  address: DatabaseAddress,
  identity: NodeIdentity,
  known: KnownSchema = knownSchema,
): Promise<JoinedNode> {
  let client: pg.Client | undefined;
  try {
    client = await connectTo(address);
    await prepareDatabase(client, address.schema, { known });
    const { name, url, version, leaseMs, machine = null, keyCheck } = identity;
    await requireKeyCheck(client, keyCheck);
    const labels = [...identity.labels.filter((label) => !isSchemaLabel(label)), ...schemaLabels(known)];
    const sql = "SELECT join_cluster($1, $2, $3, $4, $5, $6) AS incarnation";
    const [joined] = await ask(client, sql, [name, url, labels, version, leaseMs, machine]);
    const incarnation = Number(joined?.["incarnation"]);
    const numbers = await nextNumbers(client);
    const shared = await allShared(client);
    // Only what is there after the node has joined counts: everything is moved here or away while no node is there.
    const meta = metaIn(shared);
    const refused = meta.some(({ key }) => key === movedKey)
      ? movedAwayError()
      : hasOtherKey(meta, keyCheck)
        ? otherKeyError(keyCheck, await oldKeyChecks(client))
        : await tooNewFor(client, known);
    if (refused !== undefined) {
      await ask(client, "SELECT leave_cluster($1)", [incarnation]);
      throw refused;
    }
    return { salt: saltIn(meta), incarnation, numbers, shared };
  } catch (thrown) {
    throw storageError(thrown);
  } finally {
    await client?.end().catch(() => undefined);
  }
}

function metaIn({ changes }: SharedRows): { readonly key: string; readonly value: string }[] {
  return changes.flatMap(({ name, row: { key, value } }) =>
    name === "meta" && typeof key === "string" && typeof value === "string" ? [{ key, value }] : [],
  );
}

function hasOtherKey(meta: ReturnType<typeof metaIn>, keyCheck: string | undefined): boolean {
  return keyCheck !== undefined && meta.find(({ key }) => key === keyCheckRow)?.value !== keyCheck;
}

/** A node takes a block of numbers at a time; those of a block that is not used up are left out. */
async function nextNumbers(client: Pick<pg.ClientBase, "query">): Promise<TreeNumbers> {
  const [row] = await ask(client, "SELECT nextval('tree_numbers') AS block");
  return { first: Number(row?.["block"]) * numbersAtOnce, count: numbersAtOnce };
}

/** `cacheFolder` holds nothing else. */
export function openPostgresStore(address: DatabaseAddress, node: JoinedNode, cacheFolder: string): NodeStore {
  const { salt, incarnation, shared } = node;
  const cache = openTreeCache(cacheFolder, salt, (thrown) => writer.fail(storageError(thrown)));
  cache.apply([], shared.changes);
  const onStamp = new Set<() => void>();
  const onShared = new Set<(changes: readonly SharedChange[]) => void>();
  const onCommand = new Set<(payload: string) => void>();
  const reads = readsFrom(address);
  const ids = new TreeIds(node.numbers, () => void fetchNumbers());
  const fetchNumbers = async (): Promise<void> => {
    while (closing === undefined && writer.failure === undefined) {
      try {
        ids.addNumbers(await nextNumbers(await listener.client()));
        return;
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
  };
  const closed: number[] = [];
  const writer = new BatchWriter({
    incarnation,
    cache,
    version: shared.version,
    connect: () => connectTo(address),
    closes: ({ values: [task] }) => (ids.ended(Number(task)) ? rootOf(Number(task)) : undefined),
    onShared: (changes) => onShared.forEach((listen) => tell(listen, changes)),
    onClosed: (roots) => closed.push(...roots),
  });
  const stamping = stamper(() => listener.client());
  const acknowledge = async (): Promise<void> => {
    await writer.catchUp();
    const sql = "UPDATE nodes SET seen_version = GREATEST(seen_version, $2) WHERE incarnation = $1";
    await reads.rows(sql, [incarnation, writer.version]);
  };
  const listener = listenTo(address, ["events", "shared", "commands", "acks"], (channel, payload) => {
    if (channel === "events") for (const listen of onStamp) listen();
    else if (channel === "commands") for (const listen of onCommand) listen(payload);
    // What is missed because the connection is lost is seen to when it is back.
    else (channel === "shared" ? writer.catchUp() : acknowledge()).catch(() => undefined);
  });
  const forget = (roots: readonly number[]): void => {
    cache.forget(roots);
    for (const root of roots) ids.forget(root);
  };
  writer.onCommit(() => {
    if (writer.failure !== undefined) return;
    stamping.due();
    if (closed.length > 2 * keptClosed) forget(closed.splice(0, closed.length - keptClosed));
  });
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> =>
    (closing ??= (async () => {
      stamping.close();
      await Promise.all([writer.close(), listener.close(), reads.end()]);
      cache.opened.close();
    })());
  const loaded = (trees: LoadedTrees): void => {
    cache.load(trees);
    for (const { root, last, open } of idsIn(trees)) ids.adopt(root, last, open);
  };
  const load = async (roots: readonly number[]): Promise<ReadonlyMap<number, string>> => {
    try {
      const trees = await reads.through((client) => loadTrees(client, roots));
      if (closing === undefined) loaded(trees);
      return unknownIn(trees);
    } catch (thrown) {
      throw storageError(thrown);
    }
  };
  const rows = async (sql: string, values?: readonly unknown[]): Promise<Row[]> => {
    return reads.rows(sql, values).catch((thrown: unknown) => Promise.reject(storageError(thrown)));
  };
  return {
    store: storeWith({ ...cache.opened, close: () => void close() }, writer, ids),
    incarnation,
    get sharedVersion() {
      return writer.version;
    },
    get resent() {
      return writer.resent;
    },
    load,
    loaded,
    forget,
    onCommand(listen) {
      onCommand.add(listen);
      return () => onCommand.delete(listen);
    },
    get queuedWrites() {
      return writer.queuedWrites;
    },
    takeCommand: (id) => writer.push("takeCommand", [id]),
    endCommand: (id, outcome) => writer.push("endCommand", [id, outcome]),
    placeOperator: (sid, connection) => writer.push("placeOperator", [sid, incarnation, connection]),
    leavePlace: (sid, connection) => writer.push("leavePlace", [sid, connection]),
    placeTree: (root, { needs, here }) => writer.push("placeTree", [root, JSON.stringify(needs), Number(here)]),
    isMadeHere: (root) => ids.isMadeHere(root),
    async bringClosed(root) {
      if (ids.has(root)) return;
      await load([root]);
      closed.push(root);
    },
    async bringKey(key) {
      const sql = "SELECT key, task, content FROM keys WHERE key = $1 AND task IS NOT NULL";
      const [found] = await rows(sql, [storedText(key)]);
      if (found === undefined) return;
      const [task] = await rows("SELECT * FROM tasks WHERE id = $1", [found["task"]]);
      // A task of a tree that is here is there already, or is brought in with its tree.
      if (closing === undefined) cache.putKey(found, ids.has(Number(found["task"])) ? undefined : task);
    },
    async results(tasks) {
      const found = await rows("SELECT * FROM results WHERE task = ANY($1)", [tasks]);
      return found.map(resultIn);
    },
    document: (name) => cache.document(name),
    async changeDocument(changed) {
      try {
        const made = await changeDocument(rows, changed);
        await writer.catchUp();
        return made !== undefined;
      } catch (thrown) {
        throw storageError(thrown);
      }
    },
    rows,
    onStamp: subscribing(onStamp),
    onShared: subscribing(onShared),
    catchUp: () => writer.catchUp().catch((thrown: unknown) => Promise.reject(storageError(thrown))),
    fail: (failure) => writer.fail(failure),
    close,
  };
}

/** A mistake of a listener must not keep a commit from being known. It ends the process with its stack. */
function tell<T>(listen: (news: T) => void, news: T): void {
  try {
    listen(news);
  } catch (thrown) {
    setImmediate(() => {
      throw thrown;
    });
  }
}

function subscribing<T>(to: Set<T>): (listen: T) => () => void {
  return (listen) => {
    to.add(listen);
    return () => to.delete(listen);
  };
}
