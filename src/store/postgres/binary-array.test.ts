import assert from "node:assert/strict";
import { after, test } from "node:test";

import { postgresPrograms } from "../../../test/support/postgres-server.ts";
import { newDatabase, sharedServer } from "../../../test/support/stores.ts";
import { binaryArray } from "./binary-array.ts";
import { connectTo } from "./database-connection.ts";

const skip = postgresPrograms() === undefined ? "PostgreSQL is not installed" : false;
after(() => {
  if (skip === false) sharedServer().stop();
});

test("PostgreSQL reads lists in their binary form as they were", { skip }, async (t) => {
  const client = await connectTo(newDatabase());
  t.after(() => client.end());
  const lists = [
    ["bigint", [0, 1, -1, null, 2 ** 32, 2 ** 32 - 1, -(2 ** 32), Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER]],
    ["int", [0, null, 2 ** 31 - 1, -(2 ** 31)]],
    ["text", ["", "a", null, '{"a":"ü\\",\n"}', "日本語 🎼", "NULL"]],
    ["text", []],
    ["bigint", [null]],
  ] as const;
  for (const [type, list] of lists) {
    const sql = `SELECT COALESCE(json_agg(u ORDER BY place), '[]')::text AS list, cardinality($1::${type}[]) AS count
      FROM unnest($1::${type}[]) WITH ORDINALITY AS t(u, place)`;
    const { rows } = await client.query<{ list: string; count: number }>(sql, [binaryArray(type, list)]);
    assert.deepEqual(
      rows.map(({ list: read, count }): unknown => [JSON.parse(read), count]),
      [[list, list.length]],
      type,
    );
  }
});
