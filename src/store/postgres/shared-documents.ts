// Reads and changes the documents that all nodes share, over any connection to the database.

import type pg from "pg";

import { z } from "zod";

import { TuttiError } from "../../protocol/error.ts";
import { ask, type Row } from "./database-connection.ts";
import { largestDocument, otherKey } from "./documents-sql.ts";
import { otherKeyError } from "./key-check.ts";
import { readText, storedText } from "./stored-text.ts";

export const DocumentRow = z.object({
  name: z.string(),
  version: z.number(),
  body: z.string(),
  changed_by: z.string(),
  changed_at: z.number(),
});
export type DocumentRow = z.infer<typeof DocumentRow>;

export interface NewDocument {
  readonly name: string;
  /** What the change is based on; 0 when there was none. */
  readonly version: number;
  readonly body: string;
  readonly by: string;
  /** The check of the key that something in it is sealed with; absent when nothing was sealed for this change. */
  readonly sealedWith?: string | undefined;
}

type Rows = (sql: string, values?: readonly unknown[]) => Promise<Row[]>;

/** The version of the shared rows that has the change; undefined when somebody else changed the document first. */
export async function changeDocument(
  rows: Rows,
  { name, version, body, by, sealedWith }: NewDocument,
): Promise<number | undefined> {
  const stored = storedText(body);
  if (stored.length > largestDocument) {
    const message = `${name} would have ${stored.length} characters, and ${largestDocument} is the most that nodes share; revoke what is not needed any more`;
    throw new TuttiError("too_large", message);
  }
  const sql = "SELECT change_document($1, $2, $3, $4, $5) AS version";
  const [changed] = await rows(sql, [name, version, stored, storedText(by), sealedWith ?? null]);
  const made = changed?.["version"];
  if (made === otherKey && sealedWith !== undefined) throw otherKeyError(sealedWith, [sealedWith]);
  return typeof made === "number" ? made : undefined;
}

/** A document whose secrets are sealed with the key of the cluster. */
export interface SealedDocument {
  readonly name: string;
  /** Its body where there is none yet; undefined where it is not made then. */
  readonly empty: string | undefined;
  readonly reseal: (body: string) => string;
}

/**
 * In the transaction of the caller, which holds the version of the shared rows and has raised it. What was sealed with the old
 * key is nowhere in the tables afterwards. A change that is under way elsewhere is based on what was there before, and refused.
 */
export async function resealDocuments(
  client: Pick<pg.ClientBase, "query">,
  documents: readonly SealedDocument[],
  by: string,
): Promise<void> {
  const names = documents.map(({ name }) => name);
  await ask(client, "DELETE FROM shared_changes WHERE name = 'documents' AND row->>'name' = ANY($1)", [names]);
  for (const { name, empty, reseal } of documents) {
    const [found] = await ask(client, "SELECT body FROM documents WHERE name = $1", [name]);
    const body = typeof found?.["body"] === "string" ? reseal(readText(found["body"])) : empty;
    if (body === undefined) continue;
    const sql = `INSERT INTO documents VALUES ($1, 1, $2, $3, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint)
      ON CONFLICT (name) DO UPDATE SET version = documents.version + 1, body = excluded.body,
        changed_by = excluded.changed_by, changed_at = excluded.changed_at`;
    await ask(client, sql, [name, storedText(body), storedText(by)]);
  }
  await ask(client, "SELECT pg_notify('tutti_shared_' || current_schema(), version::text) FROM shared_version");
}

export async function allDocuments(rows: Rows): Promise<DocumentRow[]> {
  const found = await rows("SELECT name, version, body, changed_by, changed_at FROM documents");
  return found.map((row) => DocumentRow.parse(row));
}
