// Lists the nodes of a database: which live, which were lost, what each of them runs and how far it is behind.

import type { Row } from "./database-connection.ts";
import { isSchemaLabel } from "./schema.ts";

export interface ListedNode {
  readonly incarnation: number;
  readonly name: string;
  readonly url: string;
  readonly version: string;
  readonly labels: readonly string[];
  readonly alive: boolean;
  readonly joinedAt: number;
  readonly trees: number;
  readonly leaseLeftMs: number;
  readonly changesBehind: number;
  readonly eventsUnplaced: number;
}

type Rows = (sql: string, values?: readonly unknown[]) => Promise<Row[]>;

/** A node that was lost is listed for so long, unless one of its name has joined. */
const lostFor = "7 days";

const listing = `
SELECT n.incarnation, n.name, n.url, n.version, to_json(n.labels)::text AS labels, n.alive,
  (extract(epoch FROM n.joined_at) * 1000)::bigint AS joined_at,
  (SELECT count(*) FROM trees t WHERE t.open AND t.owner = n.incarnation) AS trees,
  GREATEST(0, (extract(epoch FROM l.until - clock_timestamp()) * 1000)::bigint) AS lease_left,
  GREATEST(0, (SELECT version FROM shared_version) - n.seen_version) AS behind,
  (SELECT COALESCE(sum(b.events), 0) FROM due_batches b WHERE b.incarnation = n.incarnation) AS unplaced
FROM (SELECT DISTINCT ON (name) * FROM nodes ORDER BY name, incarnation DESC) AS n JOIN node_leases l USING (incarnation)
WHERE n.alive OR l.until > clock_timestamp() - interval '${lostFor}' ORDER BY n.name LIMIT 1000`;

/** A node that was stopped has given its lease back and is not listed. */
export async function listNodes(rows: Rows): Promise<ListedNode[]> {
  return (await rows(listing)).map((row) => ({
    incarnation: Number(row["incarnation"]),
    name: String(row["name"]),
    url: String(row["url"]),
    version: String(row["version"]),
    labels: labelsIn(String(row["labels"])),
    alive: row["alive"] === 1,
    joinedAt: Number(row["joined_at"]),
    trees: Number(row["trees"]),
    leaseLeftMs: Number(row["lease_left"]),
    changesBehind: Number(row["behind"]),
    eventsUnplaced: Number(row["unplaced"]),
  }));
}

/** Unfinished trees that no living node runs. */
export async function countUnowned(rows: Rows): Promise<number> {
  const sql = `SELECT count(*) AS value FROM trees t
    WHERE t.open AND NOT EXISTS (SELECT 1 FROM nodes n WHERE n.incarnation = t.owner AND n.alive)`;
  return Number((await rows(sql))[0]?.["value"] ?? 0);
}

function labelsIn(json: string): string[] {
  const labels: unknown = JSON.parse(json);
  return Array.isArray(labels) ? labels.map(String).filter((label) => !isSchemaLabel(label)) : [];
}
