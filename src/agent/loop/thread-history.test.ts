import assert from "node:assert/strict";
import { test } from "node:test";

import { world, type World } from "../../../test/support/agent-kit.ts";
import { recorded, textOf } from "../../../test/support/recording-model.ts";
import { historyBefore } from "../../daemon/state/thread-messages.ts";
import type { CompleteMessage, Part } from "../../protocol/task/message.ts";
import { named, single } from "../../protocol/invocation/invocation-builders.ts";
import { openView } from "../../store/sqlite/sqlite-view.ts";
import { type SaidTask, threadHistory } from "./thread-history.ts";

const text = (data: string): Part => ({ part_type: "text", data });
const message = (id: string, role: "user" | "assistant" | "tool", ...parts: Part[]): CompleteMessage => ({
  id,
  name: null,
  role,
  parts,
  created_at: 1,
});
const call = (id: string): Part => ({
  part_type: "tool_call",
  data: { tool_call_id: id, tool_name: "read", input: {} },
});
const result = (id: string): Part => ({
  part_type: "tool_result",
  data: { tool_call_id: id, tool_name: "read", parts: [text(`result ${id}`)] },
});
const said = (task: string, asked: string, ...messages: CompleteMessage[]): SaidTask => ({
  task,
  opening: { message: { name: null, role: "user", parts: [text(asked)] }, at: 1 },
  messages,
  folds: new Map(),
  ended: undefined,
});
const ids = (messages: readonly CompleteMessage[]): string[] => messages.map(({ id }) => id);

async function* latestFirst(tasks: readonly SaidTask[], read: string[] = []): AsyncGenerator<SaidTask> {
  for (const task of tasks.toReversed()) {
    read.push(task.task);
    yield task;
  }
}

test("the tasks before are told from the oldest on, with results in the order of their calls and without calls that have none", async () => {
  const history = await threadHistory(
    latestFirst([
      said(
        "t1",
        "one",
        message("t1.a", "assistant", call("x"), call("y")),
        message("t1.y", "tool", result("y")),
        message("t1.x", "tool", result("x")),
      ),
      said("t2", "two", message("t2.a", "assistant", text("cut off"), call("z"))),
    ]),
  );
  assert.deepEqual(ids(history), ["t1.opening", "t1.a", "t1.x", "t1.y", "t2.opening", "t2.a"]);
  assert.deepEqual(history.at(-1)?.parts, [text("cut off")]);
});

test("a summary stands for what it covers, also in earlier tasks, and nothing before that is read", async () => {
  const summary = (id: string): CompleteMessage => message(id, "user", text("summary"));
  const first = said("t1", "one", message("t1.a", "assistant", text("a")), message("t1.b", "assistant", text("b")));
  const old = said("t0", "zero", message("t0.a", "assistant", text("old")));
  const read: string[] = [];
  const acrossTasks = {
    ...said("t2", "two", summary("t2.1.1.summary:0.opening"), message("t2.a", "assistant", text("c"))),
    folds: new Map([["t2.1.1.summary:0.opening", "t1.b"]]),
  };
  const across = await threadHistory(latestFirst([old, first, acrossTasks], read));
  assert.deepEqual(ids(across), ["t2.1.1.summary:0.opening", "t1.b", "t2.opening", "t2.a"]);
  assert.deepEqual(read, ["t2", "t1"], "what the summary covers is not read");
  const within = said(
    "t2",
    "two",
    message("t2.a", "assistant", text("c")),
    message("t2.b", "assistant", text("d")),
    summary("t2.1.1.summary:1"),
    message("t2.c", "assistant", text("e")),
  );
  const folds = new Map([["t2.1.1.summary:1", "t2.b"]]);
  const own = await threadHistory(latestFirst([old, first, { ...within, folds }]));
  assert.deepEqual(ids(own), ["t2.opening", "t2.1.1.summary:1", "t2.b", "t2.c"]);
  const unknown = await threadHistory(latestFirst([old, first, within]));
  assert.deepEqual(ids(unknown), ["t2.opening", "t2.1.1.summary:1", "t2.c"], "it covers all that came before it");
});

test("a huge thread is cut at its beginning, and the model is told so", async () => {
  const many = Array.from({ length: 3_000 }, (_, at) =>
    said(`t${at}`, "x", message(`t${at}.a`, "assistant", text("y"))),
  );
  const read: string[] = [];
  const history = await threadHistory(latestFirst(many, read));
  assert.ok(history.length <= 1_001, String(history.length));
  assert.ok(read.length <= 501, "the rest is not even read");
  assert.match(textOf(history.slice(0, 1)), /The beginning of this thread is left out/);
  assert.equal(history.at(-1)?.id, "t2999.a");
  const long = Array.from({ length: 30 }, (_, at) =>
    said(`t${at}`, "x", message(`t${at}.a`, "assistant", text("y".repeat(100_000)))),
  );
  assert.ok(textOf(await threadHistory(latestFirst(long))).length < 1_100_000);
  const one = await threadHistory(latestFirst([said("t", "x".repeat(3_000_000))]));
  assert.equal(one.length, 1, "what was said last stays, however long");
});

interface Scene {
  readonly made: World;
  readonly sent: ReturnType<typeof recorded>["sent"];
  readonly say: (prompt: string) => Promise<unknown>;
}

async function scene(t: Parameters<typeof world>[0], rules: readonly object[], definition: object): Promise<Scene> {
  const { model, sent } = recorded();
  const history = async (folder: string, task: string): Promise<CompleteMessage[]> => {
    const view = openView(folder);
    try {
      return await historyBefore(view, task);
    } finally {
      view.close();
    }
  };
  const made = await world(t, { model, history });
  const say = async (prompt: string): Promise<unknown> => {
    const file = {
      invocation: single(named("a", prompt)),
      agents: { a: { instructions: "Be brief.", ...definition } },
      script: { rules },
      thread: "t",
    };
    const started = await made.engine.start(made.taskOf(file), {
      thread: { project: "", thread: "t", kind: "agent" },
    });
    return (await made.engine.result(started.task)).content;
  };
  return { made, sent, say };
}

test("a thread that has become too long is summarised once, and the tasks after that begin with the summary", async (t) => {
  const rules = [
    { agent: "_summary", say: "They talked about colours." },
    { agent: "a", say: `noted ${"n".repeat(1_500)}` },
  ];
  const { sent, say } = await scene(t, rules, { context_tokens: 2_000 });
  for (let at = 0; at < 8; at += 1) await say(`colour number ${at}`);
  const summaries = sent.filter(({ agent }) => agent === "_summary");
  assert.ok(summaries.length >= 1 && summaries.length <= 3, `${summaries.length} summaries in eight tasks`);
  const asked = sent.filter(({ agent }) => agent === "a");
  for (const { messages } of asked) assert.ok(textOf(messages).length < 9_000, "every request fits");
  const last = asked.at(-1)?.messages ?? [];
  assert.match(textOf(last), /They talked about colours\./);
  assert.match(messageTextOf(last.at(-1)), /colour number 7/);
  assert.equal(last.filter((each) => messageTextOf(each).startsWith("colour number 7")).length, 1);
  assert.match(textOf(last), /colour number 0/, "what the person said first is carried over");
});

test("a large result of an earlier task of the thread can be read again", async (t) => {
  const long = "x".repeat(60_000);
  const rules: object[] = [
    { turn: 0, call: [{ tool: "echo", args: { text: long } }] },
    { turn: 1, say: "read" },
    { turn: 3, say: "{{last}}" },
  ];
  const { sent, say } = await scene(t, rules, { tools: ["echo", "read_result"] });
  await say("go");
  const shown = textOf(sent.at(-1)?.messages ?? []);
  const id = /read_result \{"id":"([^"]+)"/.exec(shown)?.[1] ?? assert.fail(shown.slice(0, 2_000));
  rules.push({ turn: 2, call: [{ tool: "read_result", args: { id, offset: 59_900 } }] });
  const told = JSON.stringify(await say(`more of ${id}`));
  assert.match(told, /of the result/);
  assert.match(told, /this is its end/);
});

function messageTextOf(message: CompleteMessage | undefined): string {
  return message === undefined
    ? ""
    : message.parts.flatMap((part) => (part.part_type === "text" ? [part.data] : [])).join("");
}
