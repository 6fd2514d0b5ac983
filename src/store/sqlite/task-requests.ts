// Reads for a list of tasks what each was asked, how its targets ended and what its tree used, without the long records.

import type { DatabaseSync } from "node:sqlite";

import { operatorKeys } from "../../protocol/operator/operator-waits.ts";
import { requestBeginning, RequestBeginning } from "../request-beginning.ts";
import type { StoreView, TaskRequest } from "../view.ts";
import { integerOrNull, numberIn, type RowReader, textOrNull } from "./rows.ts";
import { readsOver } from "./statements.ts";
import { totalsOver } from "./totals.ts";

/** In bytes. SQLite reads all of a text to take its beginning, so that of a longer record is stored beside it. */
export const longestWhole = 2_048;

export function isLongRequest(record: string): boolean {
  return Buffer.byteLength(record) > longestWhole;
}

/** For records from before beginnings were kept. SQLite cannot read JSON that is nested very deeply. */
export const addMissingRequests = `INSERT INTO request_previews SELECT id, json_object(
    'agents', (SELECT json_group_array(name) FROM (SELECT DISTINCT substr(IFNULL(value ->> '$.agent.agent_id', 'ad hoc'), 1, 64) AS name
      FROM json_each(tasks.body, '$.input.invocation.targets') LIMIT 4)),
    'targets', IFNULL(json_array_length(body, '$.input.invocation.targets'), 0),
    'prompt', substr(trim(COALESCE(body ->> '$.input.invocation.targets[0].message.parts[0].data',
      body ->> '$.input.message.parts[0].data', '')), 1, 200))
  FROM tasks WHERE octet_length(body) > ${longestWhole} AND json_valid(body)`;

const keysOfOperators = Object.values(operatorKeys)
  .map((key) => `'${key}'`)
  .join(", ");

export function requestsOver(database: DatabaseSync, path: string): Pick<StoreView, "request" | "treeOf"> {
  const { one } = readsOver(database, path);
  const recorded = one(
    `SELECT CASE WHEN octet_length(body) <= ${longestWhole} THEN body END AS record,
       CASE WHEN octet_length(body) > ${longestWhole} THEN (SELECT text FROM request_previews WHERE task = tasks.id) END AS preview
     FROM tasks WHERE id = ?`,
    (row) => ({ record: textOrNull(row, "record"), preview: textOrNull(row, "preview") }),
  );
  // After an attempt that was given up, the targets of the next one are the last children.
  const ends = one(
    `SELECT SUM(results.status = 'failed') AS failed, SUM(results.status = 'canceled') AS canceled
     FROM (SELECT id FROM tasks WHERE parent = ? ORDER BY id DESC LIMIT ?) AS targets
     JOIN results ON results.task = targets.id`,
    endsIn,
  );
  const forOperators = one(
    `SELECT COUNT(*) AS value FROM tasks JOIN open ON open.task = tasks.id
     JOIN waits ON waits.task = tasks.id AND waits.settled = 0
     WHERE tasks.root = ? AND waits.ask IS NULL AND waits.key IN (${keysOfOperators})`,
    numberIn,
  );
  const totals = totalsOver(database, path, "tree");
  const beginningOf = (task: number): RequestBeginning => {
    const { record, preview } = recorded(task) ?? { record: null, preview: null };
    if (record !== null) return requestBeginning(record);
    if (preview === null) return { agents: [], targets: 0, prompt: "" };
    const kept = RequestBeginning.parse(JSON.parse(preview));
    // One that the migration made may have more lines.
    return { ...kept, prompt: kept.prompt.split("\n", 1)[0] ?? "" };
  };
  return {
    async request(task) {
      const asked = beginningOf(task);
      return { ...asked, ...(ends(task, asked.targets) ?? { failed: 0, canceled: 0 }) };
    },
    async treeOf(root) {
      const { tokens, money } = totals(root);
      return { tokens, money, operator_requests: forOperators(root) ?? 0 };
    },
  };
}

const endsIn: RowReader<Pick<TaskRequest, "failed" | "canceled">> = (row) => ({
  failed: integerOrNull(row, "failed") ?? 0,
  canceled: integerOrNull(row, "canceled") ?? 0,
});
