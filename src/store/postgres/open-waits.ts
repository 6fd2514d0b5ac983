// Lists what tasks wait for, without the bodies of the waits: only the beginnings of their texts, and how long they are.

import { pageOf } from "../sqlite/page-rows.ts";
import { listingIn, listingLength } from "../sqlite/open-waits.ts";
import * as row from "../sqlite/rows.ts";
import type { StoreView } from "../view.ts";
import type { Reads } from "./database-connection.ts";
import { subtree } from "./subtree-sql.ts";

/** In characters. */
const beginningLength = 1_000;
const open = "waits w JOIN open o ON o.task = w.task WHERE w.settled = 0";
const textAt = (...path: readonly string[]): string => `text_in(w.body, '{${path.join(",")}}', ${beginningLength})`;

const columns = `w.id, w.task, w.root, w.raised_at, w.due, w.ask, octet_length(w.body) AS bytes,
  ${textAt("ask", "question")} AS question, ${textAt("label")} AS label,
  ${textAt("details", "external_tool", "tool_name")} AS tool_name, ${textAt("details", "external_tool", "input")} AS input`;

type OpenWaitReads = Pick<StoreView, "openWait" | "openWaits" | "openAsks">;

export function openWaitsOver(reads: Reads): OpenWaitReads {
  return {
    async openWait(id) {
      const [found] = await reads.rows(`SELECT w.* FROM ${open} AND w.id = $1`, [id]);
      return found === undefined ? undefined : row.waitIn(found);
    },
    async openWaits(filter) {
      const { asks, below, after, limit } = filter;
      const kind = asks ? "w.ask IS NOT NULL" : "w.ask IS NULL";
      const within = below === undefined ? "" : "AND w.task IN (SELECT id FROM below)";
      const sql = `${below === undefined ? "" : subtree(3)} SELECT ${columns}
        FROM ${open} AND ${kind} ${within} AND w.id > $1 ORDER BY w.id LIMIT $2`;
      const found = await reads.rows(sql, [after, limit + 1, ...(below === undefined ? [] : [below])]);
      return pageOf(found.map(listingIn), filter, listingLength);
    },
    async openAsks() {
      const [counted] = await reads.rows(`SELECT count(*) AS value FROM ${open} AND w.ask IS NOT NULL`);
      return row.numberIn(counted ?? {}) ?? 0;
    },
  };
}
