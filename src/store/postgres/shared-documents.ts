// Reads and changes the documents that all nodes share, over any connection to the database.

import { z } from "zod";

import { TuttiError } from "../../protocol/error.ts";
import type { Row } from "./database-connection.ts";
import { largestDocument } from "./documents-sql.ts";
import { storedText } from "./stored-text.ts";

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
}

type Rows = (sql: string, values?: readonly unknown[]) => Promise<Row[]>;

/** The version of the shared rows that has the change; undefined when somebody else changed the document first. */
export async function changeDocument(
  rows: Rows,
  { name, version, body, by }: NewDocument,
): Promise<number | undefined> {
  const stored = storedText(body);
  if (stored.length > largestDocument) {
    const message = `${name} would have ${stored.length} characters, and ${largestDocument} is the most that nodes share; revoke what is not needed any more`;
    throw new TuttiError("too_large", message);
  }
  const [changed] = await rows("SELECT change_document($1, $2, $3, $4) AS version", [
    name,
    version,
    stored,
    storedText(by),
  ]);
  const made = changed?.["version"];
  return typeof made === "number" ? made : undefined;
}

export async function allDocuments(rows: Rows): Promise<DocumentRow[]> {
  const found = await rows("SELECT name, version, body, changed_by, changed_at FROM documents");
  return found.map((row) => DocumentRow.parse(row));
}
