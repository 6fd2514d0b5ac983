// A state folder with large results, messages, steps and asks in it, for a daemon that is started on it afterwards.

import type { TurnOutcome } from "../../src/protocol/conversation/conversation-view.ts";
import { userMessage } from "../../src/protocol/task/message.ts";
import { openStore } from "../../src/store/sqlite/sqlite-store.ts";
import { taskName } from "../../src/store/names.ts";
import type { Store } from "../../src/store/store.ts";

export interface LargeState {
  /** A root with tasks below it, and one of those; all of them have ended. */
  readonly root: string;
  readonly child: string;
  /** One with long messages, which has ended. */
  readonly conversation: string;
}

interface LargeStateOptions {
  /** How many tasks have a result, and how many wait for an answer. There are a fourth as many goals and turns of a conversation. */
  readonly results: number;
  readonly waits: number;
  /** How long each result, message, step and ask is. */
  readonly bytes: number;
  /** How long the result of the root is. */
  readonly rootBytes: number;
}

/** No daemon has this runner, so its tasks stay as they are. */
const runner = "elsewhere";
const emptyBody = { input: null, config: null, rights: { tools: "*", roots: [] }, budget: null };
const body = JSON.stringify(emptyBody);

export async function makeLargeState(
  folder: string,
  { results, waits, bytes, rootBytes }: LargeStateOptions,
): Promise<LargeState> {
  const store = openStore(folder);
  const text = "x".repeat(bytes);
  const message = { ...userMessage(text), id: "msg_1", created_at: 1 };
  const ended = async (parent: number | null, content = text): Promise<number> => {
    const { task, run } = addTask(store, parent);
    const line = { run, at: 1, input: 0, tokens: 1, money: 0, state: null, mail: null, kind: "ok" } as const;
    if (parent !== null) {
      store.addLog({ ...line, key: "said", type: "message.added", body: JSON.stringify({ message }) });
      store.addLog({ ...line, key: "done", type: "step.finished", body: JSON.stringify(text) });
    }
    await end(task, run, content);
    return task;
  };
  const end = async (task: number, run: number, content = ""): Promise<void> => {
    store.addResult({ task, status: "completed", at: 2, body: JSON.stringify({ content }) });
    store.addEvent({ run, at: 2, type: "task.completed", body: null });
    await store.committed();
  };
  const root = await ended(null, "y".repeat(rootBytes));
  let child = root;
  for (let count = 1; count < results; count += 1) child = await ended(count % 2 === 0 ? null : root);
  for (let count = 0; count < waits; count += 1) {
    const { task, run } = addTask(store, null);
    store.setStatus(task, "input_required");
    const place = { task, root: task, run, raised_at: 1, due: 9_000_000_000_000 };
    const ask = { kind: "question", question: text, details: { text } };
    const tool = { tool_call_id: "c1", tool_name: "fetch", input: { text } };
    store.addWait({ ...place, key: "ask", ask: "question", body: JSON.stringify({ ask }) });
    store.addWait({
      ...place,
      key: "tool",
      ask: null,
      body: JSON.stringify({ label: "tool", details: { external_tool: tool } }),
    });
    await store.committed();
  }
  for (let count = 0; count < results / 4; count += 1) {
    const goal = { ...emptyBody, input: { goal: { text }, invocation: null } };
    const { task, run } = addTask(store, null, { kind: "manager", body: JSON.stringify(goal) });
    await end(task, run);
  }
  const talk = addTask(store, null, { kind: "conversation", body });
  for (let count = 0; count < results / 4; count += 1) {
    const asked = { ...userMessage(text), id: `said${count}`, created_at: 1 };
    const parts = [...asked.parts, { part_type: "data", data: turnOutcome(asked.id) }];
    for (const said of [asked, { ...asked, id: `reply${count}`, role: "assistant", parts }]) {
      const line = { run: talk.run, at: 1, input: 0, tokens: 1, money: 0, state: null, mail: null } as const;
      const told = { key: said.id, type: "message.added", body: JSON.stringify({ message: said }) } as const;
      store.addLog({ ...line, ...told, kind: "noted" });
    }
    await store.committed();
  }
  await end(talk.task, talk.run);
  const names = {
    root: taskName(store.salt, root),
    child: taskName(store.salt, results > 1 ? root + 1 : child),
    conversation: taskName(store.salt, talk.task),
  };
  store.close();
  return names;
}

function turnOutcome(answers: string): TurnOutcome {
  const counts = { calls: 1, tokens: 1, money_micro_usd: 0 };
  return { kind: "turn", answers, ...counts, actions: [], dropped: [], failed: false };
}

function addTask(
  store: Store,
  parent: number | null,
  what: { readonly kind: string; readonly body: string } = { kind: runner, body },
): { task: number; run: number } {
  const place = { parent, root: parent, depth: parent === null ? 0 : 1 };
  const rest = { ...what, agent: "writer", detached: false, created_at: 1, deadline: null, shared: null };
  const task = store.addTask({ ...place, ...rest });
  const run = store.addRun({ task, attempt: 1, run: 1, body: null });
  store.addEvent({ run, at: 1, type: "task.created", body: null });
  store.addEvent({ run, at: 1, type: "task.started", body: null });
  return { task, run };
}
