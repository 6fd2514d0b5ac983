import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";

import { openReader } from "../../src/daemon/state/reader.ts";
import { messageText } from "../../src/protocol/task/message.ts";
import { openView } from "../../src/store/sqlite/sqlite-view.ts";
import { killChild } from "../support/kill-process.ts";
import { tempFolder } from "../support/temp-folder.ts";

const messages = 5;
const mostStarts = 40;

test("a thread whose process is killed again and again has every message once and in order (invariants 1, 3)", async (t) => {
  const folder = tempFolder(t);
  const speaker = join(import.meta.dirname, "thread-speaker.ts");
  let heard = 0;
  let starts = 0;
  for (let isDone = false; !isDone; starts += 1) {
    assert.ok(starts < mostStarts, "it gets on, however often it is killed");
    const child = spawn(process.execPath, [speaker, folder, String(messages)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const exited = once(child, "exit");
    try {
      const lines = createInterface({ input: child.stdout });
      for await (const line of lines) {
        if (Number(line) <= heard) continue;
        heard = Number(line);
        // Not at once: the kill hits the task after this one, at another place each time.
        await new Promise((resolve) => setTimeout(resolve, (heard * 13) % 47));
        break;
      }
      isDone = heard === messages;
      if (isDone) await exited;
    } finally {
      await killChild(child);
    }
  }
  assert.ok(starts >= messages, `${starts} starts`);

  const reader = openReader(openView(join(folder, "state")), join(folder, "state"));
  t.after(() => reader.close());
  const [thread, ...others] = (await reader.threads()).threads;
  assert.deepEqual([thread?.name, thread?.tasks, others.length], ["talk", messages, 0]);
  const said = (await reader.threadMessages(thread?.id ?? "")).messages.map(({ message }) => messageText(message));
  const expected = Array.from({ length: messages }, (_, at) => [
    `message ${at + 1}`,
    `reply ${at + 1} to message ${at + 1}`,
  ]);
  assert.deepEqual(said, expected.flat());
});
