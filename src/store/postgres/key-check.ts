// Lets only nodes with the same cluster key join one database: the first leaves a value that shows whether another has it too.

import type pg from "pg";

import { TuttiError } from "../../protocol/error.ts";
import { ask } from "./database-connection.ts";

const row = "key_check";

/** Undefined when no node with a key has joined yet. */
export async function keyCheckOf(client: Pick<pg.ClientBase, "query">): Promise<string | undefined> {
  const [found] = await ask(client, "SELECT value FROM meta WHERE key = $1", [row]);
  const value = found?.["value"];
  return typeof value === "string" ? value : undefined;
}

/** The first node decides. Throws `unauthorized` for a node with another key, and for one without. */
export async function requireKeyCheck(client: Pick<pg.ClientBase, "query">, check: string | undefined): Promise<void> {
  if (check !== undefined) {
    await ask(client, "INSERT INTO meta VALUES ($1, $2) ON CONFLICT DO NOTHING", [row, check]);
  }
  const known = await keyCheckOf(client);
  if (known === check) return;
  const message =
    check === undefined
      ? "this database belongs to a cluster whose key this node does not have; run `tutti cluster-key show` on a node that has it and `tutti cluster-key set` here"
      : "this node has another cluster key than the nodes of this database; check the URL of the database, or move cluster.key of this node away and run `tutti cluster-key set` with the key of another node";
  throw new TuttiError("unauthorized", message);
}
