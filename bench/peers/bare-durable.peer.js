// The floor on disk: the loop alone, with each message in a commit of its own.
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { answer, callAt, look } from "./work.js";

export async function open({ folder }) {
  const database = new DatabaseSync(join(folder, "bare.db"));
  database.exec(
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE IF NOT EXISTS log (id INTEGER PRIMARY KEY, run INTEGER, body TEXT)",
  );
  const insert = database.prepare("INSERT INTO log (run, body) VALUES (?, ?)");
  let runs = 0;
  return {
    async run() {
      const run = (runs += 1);
      const keep = (message) => insert.run(run, JSON.stringify(message));
      keep({ role: "user", content: "go" });
      for (let reply = 0; ; reply += 1) {
        const call = await Promise.resolve(callAt(reply));
        keep({ role: "assistant", call: call ?? answer });
        if (call === undefined) return answer;
        keep({ role: "tool", id: call.id, content: await Promise.resolve(look()) });
      }
    },
    close: async () => database.close(),
  };
}
