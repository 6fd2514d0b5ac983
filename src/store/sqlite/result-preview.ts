// How lists show results without reading the bodies of long ones, which may have megabytes.
//
// SQLite knows the length of a value without reading it, but reads all of a value to take its beginning. So the beginning
// of a long result is stored beside it.

import { previewLength } from "../result-beginning.ts";

/** In bytes of the body. */
const longestWhole = 2_048;

const isLong = `octet_length(results.body) > ${longestWhole}`;

/** The columns of a list: the body of a short result, the stored beginning of a long one. */
export const listedResult = `octet_length(results.body) AS result_bytes,
  CASE WHEN ${isLong} THEN NULL ELSE results.body END AS result,
  CASE WHEN ${isLong} THEN (SELECT text FROM result_previews WHERE result_previews.task = results.task) END AS preview`;

/** For results that were recorded before previews were kept. SQLite cannot read JSON that is nested very deeply. */
export const addMissingPreviews = `INSERT INTO result_previews SELECT task, substr(CASE WHEN json_valid(body)
    THEN COALESCE(body ->> '$.error.message', body ->> '$.content', body ->> '$.error', body ->> '$.reason', 'null')
    ELSE body END, 1, ${previewLength})
  FROM results WHERE ${isLong}`;

export function isLongResult(body: string): boolean {
  return Buffer.byteLength(body) > longestWhole;
}
