// Looks up what operators need in the database, whichever node has the tree.

import type { Salt } from "../names.ts";
import { operatorKeys } from "../../protocol/operator/operator-waits.ts";
import type { OperatorReads } from "../reads-for-operators.ts";
import * as row from "../sqlite/rows.ts";
import type { WaitRow } from "../store.ts";
import type { Row } from "./database-connection.ts";
import { storedText } from "./stored-text.ts";

export interface NodeReads {
  rows(sql: string, values?: readonly unknown[]): Promise<Row[]>;
}

/** Waits for results are settled by workers; no operator is asked. */
const askedUnder = [operatorKeys.hook_before, operatorKeys.spawn];

/** `salt`: of the names that the store gives. */
export function operatorReads(node: NodeReads, salt: Salt): OperatorReads {
  const waits = async (sql: string, values: readonly unknown[]): Promise<WaitRow[]> =>
    (await node.rows(sql, values)).map(row.waitIn);
  const one = async <T>(sql: string, values: readonly unknown[], read: row.RowReader<T>): Promise<T | undefined> => {
    const [found] = await node.rows(sql, values);
    return found === undefined ? undefined : read(found);
  };
  return {
    salt,
    async openRequestIds() {
      const sql = `SELECT w.id AS value FROM waits w JOIN open o ON o.task = w.task
        WHERE w.settled = 0 AND (w.ask IS NOT NULL OR w.key = ANY($1)) ORDER BY w.id`;
      return (await node.rows(sql, [askedUnder])).map(row.idIn);
    },
    unsettled: (ids) => waits("SELECT * FROM waits WHERE id = ANY($1) AND settled = 0 ORDER BY id", [ids]),
    wait: (id) => one("SELECT * FROM waits WHERE id = $1", [id], row.waitIn),
    answer: (wait) => one("SELECT * FROM answers WHERE wait = $1", [wait], row.answerIn),
    waitAt: (task, attempt, key, run) =>
      one(
        `SELECT w.* FROM runs r JOIN waits w ON w.run = r.id AND w.key = $3
         WHERE r.task = $1 AND r.attempt = $2 AND r.run = COALESCE($4, r.run) ORDER BY w.id DESC LIMIT 1`,
        [task, attempt, storedText(key), run ?? null],
        row.waitIn,
      ),
    lastAttempt: (task) =>
      one("SELECT attempt AS value FROM runs WHERE task = $1 ORDER BY attempt DESC LIMIT 1", [task], row.idIn),
    async isOver(task) {
      const [found] = await node.rows("SELECT 1 FROM open WHERE task = $1", [task]);
      return found === undefined;
    },
    // Most records name no operators, and some are long.
    recordWithOperators: (root) =>
      one(`SELECT body AS value FROM tasks WHERE id = $1 AND body LIKE '%"operators"%'`, [root], row.textIn),
    async isBound(key) {
      const [found] = await node.rows("SELECT 1 FROM keys WHERE key = $1 AND task IS NOT NULL", [storedText(key)]);
      return found !== undefined;
    },
  };
}
