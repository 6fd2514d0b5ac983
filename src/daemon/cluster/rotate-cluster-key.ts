// Gives a cluster another key: everything that the old one seals is sealed with the new one, in one transaction, or nothing is.

import type pg from "pg";

import { seenByAll } from "../../cluster/seen-by-all.ts";
import { TuttiError } from "../../protocol/error.ts";
import { ask, connectTo } from "../../store/postgres/database-connection.ts";
import { prepareDatabase } from "../../store/postgres/database.ts";
import {
  changeKeyCheck,
  keyCheckOf,
  nodesWithoutNextKey,
  noteNextKey,
  otherKeyError,
} from "../../store/postgres/key-check.ts";
import { resealDocuments } from "../../store/postgres/shared-documents.ts";
import { storageError } from "../../store/postgres/storage-error.ts";
import { personHere } from "../documents/cluster-documents.ts";
import { resealedSigningKey } from "../operators/signing-key.ts";
import { noSealedKeys, resealedKeys } from "../secrets/sealed-keys.ts";
import { readNodeSettings } from "../state/node-settings.ts";
import type { ClusterKey } from "./cluster-key.ts";
import { newClusterKey } from "./cluster-key.ts";
import { adoptKey, keepNextKey, nextKeyFile, ownClusterKey, readNextKey } from "./find-cluster-key.ts";

/** How it would be sealed with another key. */
const sealedDocuments = {
  "provider-keys": { reseal: resealedKeys, empty: noSealedKeys },
  "signing-key": { reseal: resealedSigningKey, empty: undefined },
} as const;

/**
 * Run again after it was cut off, it finishes what it began. Throws `conflict` when nodes work that do not have the new key
 * yet, unless it is forced: then those stop.
 */
export async function rotateClusterKey(folder: string, { force }: { readonly force: boolean }): Promise<void> {
  const settings = readNodeSettings(folder);
  if (settings === undefined) {
    throw new TuttiError(
      "not_found",
      `${folder} is not the folder of a node, so there is no cluster whose key to change`,
    );
  }
  const { address, name } = settings;
  const from = ownClusterKey(folder);
  // It is on disk before anything is sealed with it.
  if (readNextKey(folder) === undefined) keepNextKey(folder, newClusterKey());
  const to = readNextKey(folder)?.key ?? from;
  let client: pg.Client | undefined;
  try {
    const open = (client = await connectTo(address));
    await prepareDatabase(open, address.schema);
    const known = await keyCheckOf(open);
    if (known !== to.check) {
      if (known !== from.check) throw otherKeyError(from.check);
      await noteNextKey(open, name, to.check);
      await change(open, { from, to, force, folder });
    }
    adoptKey(folder, to.check);
    const [shared] = await ask(open, "SELECT version FROM shared_version");
    await seenByAll({ rows: (sql, values) => ask(open, sql, values), sharedVersion: Number(shared?.["version"]) });
  } catch (thrown) {
    throw storageError(thrown);
  } finally {
    await client?.end().catch(() => undefined);
  }
}

interface Change {
  readonly from: ClusterKey;
  readonly to: ClusterKey;
  readonly force: boolean;
  readonly folder: string;
}

async function change(client: pg.Client, { from, to, force, folder }: Change): Promise<void> {
  await client.query("BEGIN");
  try {
    // Until the end of the transaction nobody changes a document, and no node joins.
    await client.query("SELECT 1 FROM shared_version FOR UPDATE");
    await client.query("LOCK TABLE nodes IN SHARE ROW EXCLUSIVE MODE");
    const waiting = force ? [] : await nodesWithoutNextKey(client, to.check);
    if (waiting.length > 0) throw notReady(waiting, folder);
    await client.query("UPDATE shared_version SET version = version + 1");
    await changeKeyCheck(client, from.check, to.check);
    const resealed = Object.entries(sealedDocuments).map(([name, { reseal, empty }]) => ({
      name,
      empty,
      reseal: (body: string) => reseal(body, from, to),
    }));
    await resealDocuments(client, resealed, personHere());
    await client.query("COMMIT");
  } catch (thrown) {
    await client.query("ROLLBACK").catch(() => undefined);
    throw thrown;
  }
}

function notReady(names: readonly string[], folder: string): TuttiError {
  const message = `the new key is in ${nextKeyFile(folder)} and not used yet, because nodes work that do not have it: ${names.join(", ")}. Give it to each of them with \`tutti cluster-key show --next | ssh OTHER tutti cluster-key set --next\`, and run this again; with --force they stop instead`;
  return new TuttiError("conflict", message);
}
