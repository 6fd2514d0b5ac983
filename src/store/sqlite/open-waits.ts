// Lists what tasks wait for, without the bodies of the waits: only the beginnings of their texts, and how long they are.

import type { DatabaseSync } from "node:sqlite";

import type { StoreView, WaitFilter, WaitListing } from "../view.ts";
import { found, pageOf } from "./page-rows.ts";
import * as row from "./rows.ts";
import { readsOver } from "./statements.ts";
import { subtree } from "./subtree-sql.ts";

/** In characters. */
const beginningLength = 1_000;
/** SQLite reads a whole body to take its beginnings, so this part of its length counts against the length of the page. */
const readShare = 1 / 4;

const beginning = (value: string): string => `substr(${value}, 1, ${beginningLength})`;

// SQLite cannot read JSON that is nested very deeply; such a wait is listed without its texts.
const body = "(CASE WHEN json_valid(waits.body) THEN waits.body ELSE '{}' END)";
const columns = `waits.id, waits.task, waits.root, waits.raised_at, waits.due, waits.ask,
  octet_length(waits.body) AS bytes,
  ${beginning(`${body} ->> '$.ask.question'`)} AS question,
  ${beginning(`${body} ->> '$.label'`)} AS label,
  ${beginning(`${body} ->> '$.details.external_tool.tool_name'`)} AS tool_name,
  ${beginning(`${body} -> '$.details.external_tool.input'`)} AS input`;

const open = "waits INDEXED BY waits_listed JOIN open ON open.task = waits.task WHERE waits.settled = 0";

type OpenWaitReads = Pick<StoreView, "openWait" | "openWaits" | "openAsks">;

export function openWaitsOver(database: DatabaseSync, path: string): OpenWaitReads {
  const { all, one } = readsOver(database, path);
  // The ids come from the index alone. Each wait is then read by itself, so that what is not shown is not read.
  const idsOf = (kind: string) =>
    all(`SELECT waits.id AS value FROM ${open} AND ${kind} AND waits.id > ? ORDER BY waits.id LIMIT ?`, row.idIn);
  const idsBelow = (kind: string) =>
    all(
      `${subtree} SELECT waits.id AS value FROM ${open} AND ${kind} AND waits.task IN (SELECT id FROM below)
         AND waits.id > ? ORDER BY waits.id LIMIT ?`,
      row.idIn,
    );
  const [isAsk, isOther] = ["waits.ask IS NOT NULL", "waits.ask IS NULL"];
  const asks = { all: idsOf(isAsk), below: idsBelow(isAsk) };
  const others = { all: idsOf(isOther), below: idsBelow(isOther) };
  const listing = one(`SELECT ${columns} FROM waits WHERE id = ?`, listingIn);
  const openWait = one(
    `SELECT waits.* FROM ${open.replace("INDEXED BY waits_listed ", "")} AND waits.id = ?`,
    row.waitIn,
  );
  const count = one(`SELECT COUNT(*) AS value FROM ${open} AND ${isAsk}`, row.numberIn);
  const find = ({ asks: wanted, below, after, limit }: WaitFilter): number[] => {
    const ids = wanted ? asks : others;
    return below === undefined ? ids.all(after, limit + 1) : ids.below(below, after, limit + 1);
  };
  return {
    openWait: async (id) => openWait(id),
    openWaits: async (filter) => pageOf(found(find(filter), listing), filter, listingLength),
    openAsks: async () => count() ?? 0,
  };
}

/** About how long it is as JSON, or how much had to be read for it. */
export function listingLength({ question, label, tool_name, input, bytes }: WaitListing): number {
  const shown = [question, label, tool_name, input].reduce((sum, text) => sum + (text?.length ?? 0), 300);
  return Math.max(shown, bytes * readShare);
}

export const listingIn: row.RowReader<WaitListing> = (read) => ({
  id: row.integer(read, "id"),
  task: row.integer(read, "task"),
  root: row.integer(read, "root"),
  raised_at: row.integer(read, "raised_at"),
  due: row.integer(read, "due"),
  ask: row.askKindIn(read),
  question: row.textOrNull(read, "question"),
  label: row.textOrNull(read, "label"),
  tool_name: row.textOrNull(read, "tool_name"),
  input: row.textOrNull(read, "input"),
  bytes: row.integer(read, "bytes"),
});
