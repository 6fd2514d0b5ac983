import assert from "node:assert/strict";
import { test } from "node:test";

import type { CompleteMessage } from "../protocol/task/message.ts";
import { foldConversation, LatestTurns } from "./fold-conversation.ts";

const said = (id: string, text: string): CompleteMessage => ({
  id,
  name: null,
  role: "user",
  parts: [{ part_type: "text", data: text }],
  created_at: 0,
});

function answered(id: string, answers: string, text: string): CompleteMessage {
  const outcome = {
    kind: "turn",
    answers,
    calls: 1,
    tokens: 1,
    money_micro_usd: 0,
    actions: [],
    dropped: [],
    failed: false,
  };
  return {
    id,
    name: null,
    role: "assistant",
    parts: [
      { part_type: "text", data: text },
      { part_type: "data", data: outcome },
    ],
    created_at: 0,
  };
}

const long = "x".repeat(10_000);
const messages = Array.from({ length: 400 }, (_, index) => [
  said(`u${index}`, `question ${index}`),
  answered(`a${index}`, `u${index}`, index % 2 === 0 ? `answer ${index}` : long),
]).flat();

test("the latest turns are those of the whole conversation", () => {
  const latest = new LatestTurns({ turns: 50, characters: 1e9, text: 1e9 });
  for (const message of messages) latest.add(message);
  assert.deepEqual(latest.list(), foldConversation(messages).slice(-50));
});

test("however long a conversation and its texts are, what is kept of it stays within the limits", () => {
  const most = { turns: 50, characters: 20_000, text: 1_000 };
  const latest = new LatestTurns(most);
  for (const message of messages) {
    latest.add(message);
    const turns = latest.list();
    const characters = turns.reduce((sum, { user, reply }) => sum + user.length + (reply?.length ?? 0), 0);
    assert.ok(turns.length <= most.turns && characters <= most.characters, `${turns.length} turns, ${characters}`);
  }
  const newest = latest.list().at(-1);
  assert.deepEqual([newest?.message, newest?.user], ["u399", "question 399"]);
  assert.match(newest?.reply ?? "", /^x{1000} \[truncated 9000 characters\]$/);
});

test("one turn that is too long alone is still shown, and an answer to a turn that is gone is left out", () => {
  const latest = new LatestTurns({ turns: 1, characters: 10, text: 100 });
  latest.add(said("u1", "a question that is longer"));
  latest.add(said("u2", "another question that is longer"));
  latest.add(answered("a1", "u1", "late"));
  assert.deepEqual(
    latest.list().map(({ message, reply }) => [message, reply]),
    [["u2", null]],
  );
});
