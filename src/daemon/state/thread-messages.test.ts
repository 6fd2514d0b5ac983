import assert from "node:assert/strict";
import { test } from "node:test";

import { openKit } from "../../../test/support/http-kit.ts";
import { idInName } from "../../store/names.ts";
import type { ThreadEntryListing } from "../../store/threads.ts";
import type { StoreView } from "../../store/view.ts";
import { historyBefore, messagesOfEntry } from "./thread-messages.ts";

const longMessage = 300_000;
const said = 60;

test("a task that said very much is read in parts, and the next task is told the latest of it", async (t) => {
  const kit = await openKit({
    runners: {
      async loop(durable) {
        for (let n = 0; n < said; n += 1) {
          const data = `${n} ${"x".repeat(longMessage)}`;
          durable.say(`m${n}`, { name: null, role: "assistant", parts: [{ part_type: "text", data }] });
        }
        return null;
      },
    },
  });
  t.after(() => kit.close());
  const task = await kit.start({ agent: "talks" });
  await kit.state.client.result(task);
  const id = idInName(kit.state.view.salt, task) ?? assert.fail();
  let read = 0;
  const { view } = kit.state;
  const counted: StoreView = {
    ...view,
    async messages(of, page) {
      const found = await view.messages(of, page);
      for (const { body } of found.rows) read += body?.length ?? 0;
      return found;
    },
  };
  const entry: ThreadEntryListing = {
    thread: 1,
    position: 1,
    task: id,
    until: null,
    status: "completed",
    speaker: id,
    since: 1,
  };
  const part = await messagesOfEntry(counted, entry, { after: 0, limit: 1_000, maxLength: 1_000_000 });
  assert.equal(part.length, 5, "the one that reaches the length, and one that tells that there are more");
  assert.ok(part.slice(0, -1).reduce((sum, each) => sum + JSON.stringify(each.message).length, 0) >= 1_000_000);
  assert.ok(read < 3_000_000, `${read} characters were read for one part`);

  const later: StoreView = {
    ...counted,
    threadOfTask: async () => ({ ...entry, position: 2 }),
    threadEntriesBefore: async (_, { before }) => (before > 1 ? [entry] : []),
  };
  const history = await historyBefore(later, task);
  assert.ok(JSON.stringify(history).length < 1_100_000);
  assert.match(JSON.stringify(history.at(-1)), new RegExp(`"${said - 1} x`));
});
