// Reads for a list of tasks what each was asked, how its targets ended and what its tree used, without the long records.

import { operatorKeys } from "../../protocol/operator/operator-waits.ts";
import { requestBeginning, RequestBeginning } from "../request-beginning.ts";
import { integer, integerOrNull, textOrNull } from "../sqlite/rows.ts";
import { longestWhole } from "../sqlite/task-requests.ts";
import type { StoreView } from "../view.ts";
import type { Reads } from "./database-connection.ts";

export function requestsOver(reads: Reads): Pick<StoreView, "request" | "treeOf"> {
  const beginningOf = async (task: number): Promise<RequestBeginning> => {
    const sql = `SELECT CASE WHEN octet_length(body) <= ${longestWhole} THEN body END AS record,
        (SELECT text FROM request_previews WHERE task = tasks.id) AS preview FROM tasks WHERE id = $1`;
    const [found = {}] = await reads.rows(sql, [task]);
    const [record, preview] = [textOrNull(found, "record"), textOrNull(found, "preview")];
    if (record !== null) return requestBeginning(record);
    return preview === null ? { agents: [], targets: 0, prompt: "" } : RequestBeginning.parse(JSON.parse(preview));
  };
  return {
    async request(task) {
      const asked = await beginningOf(task);
      // After an attempt that was given up, the targets of the next one are the last children.
      const sql = `SELECT count(*) FILTER (WHERE results.status = 'failed') AS failed,
          count(*) FILTER (WHERE results.status = 'canceled') AS canceled
        FROM (SELECT id FROM tasks WHERE parent = $1 ORDER BY id DESC LIMIT $2) AS targets
        JOIN results ON results.task = targets.id`;
      const [ends = {}] = await reads.rows(sql, [task, asked.targets]);
      return { ...asked, failed: integer(ends, "failed"), canceled: integer(ends, "canceled") };
    },
    async treeOf(root) {
      const sql = `SELECT sum(l.tokens) AS tokens, sum(l.money) AS money,
          (SELECT count(*) FROM tasks t JOIN open o ON o.task = t.id JOIN waits w ON w.task = t.id AND w.settled = 0
            WHERE t.root = $1 AND w.ask IS NULL AND w.key = ANY($2)) AS requests
        FROM tasks t JOIN runs r ON r.task = t.id JOIN log l ON l.run = r.id WHERE t.root = $1`;
      const [found = {}] = await reads.rows(sql, [root, Object.values(operatorKeys)]);
      return {
        tokens: integerOrNull(found, "tokens") ?? 0,
        money: integerOrNull(found, "money") ?? 0,
        operator_requests: integer(found, "requests"),
      };
    },
  };
}
