// The full loop stopped at any call of the model or of a tool, and started again: the same transcript, no step done twice.

import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { test, type TestContext } from "node:test";

import { z } from "zod";

import { builtinTools } from "../agent-environment.ts";
import { stepTool } from "../tools/tool.ts";
import { rehearsalModel } from "../../model/rehearsal/rehearsal-model.ts";
import type { InvocationFile } from "../../protocol/invocation/invocation-file.ts";
import type { Model } from "../../model-port.ts";
import { person } from "../../../test/support/lead-and-worker.ts";
import { solo } from "../../../test/support/recording-model.ts";
import { wholeMessage } from "../../engine/recorded-message.ts";
import { databaseFile } from "../../store/sqlite/database.ts";
import { ownSalt, taskName } from "../../store/names.ts";
import { World } from "../../../test/support/agent-kit.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { until } from "../../../test/support/wait-until.ts";

const block = (tool: string, args: object): string => `\`\`\`tool\n${JSON.stringify({ name: tool, args })}\n\`\`\``;
const broken = '```tool\n{"name":"peek","args":{"as":"C:\\q"}}\n```';
const definition = {
  output_schema: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] },
  context_tokens: 9_000,
  max_turns: 40,
};

const fencedRules = [
  { turn: 0, raw: `Good and bad.\n${block("peek", { as: "a" })}\n${broken}` },
  { turn: 1, raw: `${block("peek", { as: "b" })}\n${block("mark", { as: "c" })}\n${block("peek", { as: "d" })}` },
  { turn: 2, raw: broken },
  { turn: 3, raw: broken },
  { turn: 4, raw: block("sign", { as: "e" }) },
  { turn: 5, raw: "<tool_call>peek</tool_call>" },
  { turn: 6, raw: block("peek", { as: "a" }), finish: "length" },
  { turn: 7, call: [{ tool: "ecco" }, { tool: "peek", args: { as: 7 } }] },
  { turn: 8, final: { n: "no" } },
  { final: { n: 1 } },
];
const nativeRules = [
  { turn: 0, call: ["a", "b", "c"].map((as) => ({ tool: "peek", args: { as } })) },
  { turn: 1, raw: block("peek", { as: "x" }) },
  {
    turn: 2,
    call: [
      { tool: "mark", args: { as: "d" } },
      { tool: "sign", args: { as: "e" } },
      { tool: "peek", args: "{" },
    ],
  },
  { turn: 3, call: [{ tool: "peek", args: { as: "a" } }] },
  { turn: 4, say: "no result" },
  { turn: 5, delegate: [{ system: "Help.", prompt: "x" }], call: [{ tool: "peek", args: { as: "a" } }] },
  { turn: 6, final: { n: 1 } },
  { say: "helped" },
].map((rule) => ("turn" in rule ? { agent: "a", ...rule } : rule));

interface Counter {
  /** The call, of the model or of a tool that may be repeated, at which the process ends; counted over all its lives. */
  readonly at: number;
  calls: number;
  marks: number;
  stop: () => void;
}

function passing(counter: Counter, signal: AbortSignal): Promise<void> {
  counter.calls += 1;
  if (counter.calls !== counter.at) return Promise.resolve();
  counter.stop();
  return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
}

function agentEnvironment(counter: Counter) {
  const tool = (name: string, repeatable: boolean) =>
    stepTool({
      name,
      description: "",
      input: z.strictObject({ as: z.string() }),
      repeatable,
      async run({ as }, { step }) {
        if (repeatable) await passing(counter, step.signal);
        else counter.marks += 1;
        return `${name} ${as} ${"lorem ipsum ".repeat(150)}`;
      },
    });
  return {
    tools: [...builtinTools, tool("peek", true), tool("mark", false), tool("sign", false)],
    approvals: [{ from: "project" as const, rules: { tools: { sign: "ask" as const } } }],
  };
}

function modelOf(counter: Counter): (file: InvocationFile) => Model {
  return (file) => {
    const model = rehearsalModel(file.script);
    return {
      estimate: (request) => model.estimate(request),
      async call(request, options) {
        await passing(counter, options.signal);
        return model.call(request, options);
      },
    };
  };
}

async function played(
  t: TestContext,
  file: object,
  at: number,
  between: (folder: string) => void = () => undefined,
): Promise<{ transcript: string; counter: Counter; lives: number }> {
  const folder = tempFolder(t);
  const counter: Counter = { at, calls: 0, marks: 0, stop: () => undefined };
  let root: string | undefined;
  for (let lives = 1; lives < 4; lives += 1) {
    const w = new World(folder, { environment: agentEnvironment(counter), model: modelOf(counter) });
    let stopped = false;
    counter.stop = () => (stopped = true);
    await w.engine.recover();
    root ??= await w.start(file);
    let ended = false;
    const ending = w.engine.result(root).then(
      () => (ended = true),
      () => undefined,
    );
    const task = root;
    const answered = new Set<string>();
    await until(() => {
      for (const { id } of w.waits(task).filter((wait) => !answered.has(wait.id) && !stopped)) {
        answered.add(id);
        void w.engine.deliver(id, { kind: "approval", approved: true }, person).catch(() => undefined);
      }
      return ended || stopped;
    });
    const transcript = ended ? transcriptOf(w, task) : "";
    await w.close();
    await ending;
    if (ended) return { transcript, counter, lives };
    between(folder);
  }
  throw new Error("it never ended");
}

/** Results as the model sees them: in the order of the calls, whatever order they came in. */
function transcriptOf(w: World, root: string): string {
  const said = w.tree(root).map((task) => [
    task.agent,
    w
      .messages(task.id)
      .map(({ id, role, name, parts }) => ({ id, role, name, parts }))
      .toSorted((a, b) => a.id.localeCompare(b.id)),
  ]);
  return JSON.stringify(said)
    .replaceAll(ownSalt(w.store.salt), "SALT")
    .replaceAll(/"(\w+_at)":\d+/g, '"$1":0');
}

for (const [format, rules] of [
  ["fenced", fencedRules],
  ["native", nativeRules],
] as const) {
  test(`stopped anywhere, a ${format} conversation full of mistakes ends with the same transcript (invariant 3)`, async (t) => {
    const file = solo(rules, { ...definition, format });
    const whole = await played(t, file, 0);
    assert.match(whole.transcript, /The task ends with this/);
    assert.ok(whole.counter.calls >= 11, `${whole.counter.calls} calls`);
    assert.equal(whole.counter.marks, 2);
    for (let at = 1; at <= whole.counter.calls; at += 1) {
      const cut = await played(t, file, at);
      assert.equal(cut.lives, 2, `stopped at call ${at}`);
      assert.equal(cut.counter.marks, 2, `stopped at call ${at}`);
      assert.equal(cut.transcript, whole.transcript, `stopped at call ${at}`);
    }
  });
}

test("errors of an earlier life still count: the third in a row fails the task after a restart too", async (t) => {
  const file = solo([{ raw: broken }], { format: "fenced" });
  for (const at of [2, 3]) {
    const { transcript, counter, lives } = await played(t, file, at);
    assert.equal(lives, 2);
    assert.equal(counter.calls, 4, "three replies, one of them asked for twice");
    assert.equal(transcript.match(/1 rejected/g)?.length, 3);
  }
});

/** Writes every line as the versions before did: messages with all their fields, and the state of the loop with named ones. */
function asEarlierVersion(folder: string): void {
  const database = new DatabaseSync(databaseFile(folder));
  const [salt] = database.prepare("SELECT value FROM meta WHERE key = 'salt'").all();
  const lines = database
    .prepare("SELECT log.*, runs.task, runs.attempt, runs.run AS ordinal FROM log JOIN runs ON runs.id = log.run")
    .all();
  const write = database.prepare("UPDATE log SET body = ?, state = ? WHERE id = ?");
  let changed = 0;
  for (const { id, task, attempt, ordinal, key, at, type, body, state } of lines) {
    const place = {
      task: taskName(String(salt?.["value"]), Number(task)),
      attempt: Number(attempt),
      run: Number(ordinal),
      key: String(key),
      at: Number(at),
    };
    const whole =
      type === "message.added" ? JSON.stringify(wholeMessage(JSON.parse(String(body)), place)) : (body ?? null);
    const named = typeof state === "string" ? JSON.stringify(namedState(JSON.parse(state))) : null;
    if (whole !== body && named !== state) changed += 1;
    write.run(whole, named, Number(id));
  }
  database.close();
  assert.ok(changed > 0);
}

function namedState({ measured, choice, ...state }: Record<string, unknown>): object {
  const [tokens, size] = Array.isArray(measured) ? measured : [];
  const [model, format] = Array.isArray(choice) ? choice : [];
  return {
    ...state,
    ...(measured === undefined ? {} : { measured: { tokens, size } }),
    ...(choice === undefined ? {} : { choice: { model, format } }),
  };
}

test("a conversation that an earlier version recorded goes on with the same transcript", async (t) => {
  const file = solo(nativeRules, definition);
  const whole = await played(t, file, 0);
  const cut = await played(t, file, 10, asEarlierVersion);
  assert.deepEqual([cut.lives, cut.counter.marks], [2, 2]);
  assert.equal(cut.transcript, whole.transcript);
});
