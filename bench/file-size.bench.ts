// How large the file is after runs of ten tool calls and an answer, against what the steps were given and returned, once.
import { statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

import { databaseFile } from "../src/store/sqlite/database.ts";
import { callTools, inFolder, inLanes, newTask, openBench, replyAt, toolOutcome } from "./bench-engine.ts";
import { report, round } from "./measure.ts";

const runs = 2_000;
const turns = 10;

const size = await inFolder(async (folder) => {
  const bench = openBench(folder, { tools: (durable) => callTools(durable, turns) });
  await inLanes(runs, 64, () => bench.complete(newTask("tools")));
  await bench.close();
  const path = databaseFile(folder);
  const database = new DatabaseSync(path);
  database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  const bytes = statSync(path).size + (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0);
  database.close();
  return bytes;
});

const bytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));
let content = 0;
for (let turn = 0; turn <= turns; turn += 1) {
  content += bytes(replyAt(turn, turns));
  if (turn < turns) content += bytes({ turn }) + bytes(toolOutcome);
}
report({
  name: "file-size",
  ratio: size / (content * runs),
  target: 3,
  figures: { file_mb: round(size / 2 ** 20, 1), content_mb: round((content * runs) / 2 ** 20, 1), runs },
});
