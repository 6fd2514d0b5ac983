// An invocation stopped at any point and started again on the same folder ends as if nothing had happened.

import assert from "node:assert/strict";
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import { z } from "zod";

import { builtinTools } from "../agent-environment.ts";
import { stepTool } from "../tools/tool.ts";
import { rehearsalModel } from "../../model/rehearsal/rehearsal-model.ts";
import type { InvocationFile } from "../../protocol/invocation/invocation-file.ts";
import { all, named, single } from "../../protocol/invocation/invocation-builders.ts";
import type { Model } from "../../model-port.ts";
import { ownSalt } from "../../store/names.ts";
import { World } from "../../../test/support/agent-kit.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { until } from "../../../test/support/wait-until.ts";

const person = { kind: "person" as const, name: "ana" };

/** Every execution leaves a line; a line there twice is a step done twice. */
function ledgerTool(folder: string) {
  return stepTool({
    name: "ledger",
    description: "Writes a line.",
    input: z.strictObject({ line: z.string() }),
    repeatable: false,
    run({ line }, { step }) {
      appendFileSync(join(folder, "ledger.txt"), `${step.key.replace(/_[0-9a-f]+_/, "_")} ${line}\n`);
      return `wrote ${line}`;
    },
  });
}

function ledgerOf(folder: string): string[] {
  const path = join(folder, "ledger.txt");
  return existsSync(path) ? readFileSync(path, "utf8").trimEnd().split("\n") : [];
}

const file = {
  invocation: single(named("lead", "begin")),
  agents: {
    lead: { instructions: "Lead.", handover: ["closer"] },
    worker: { instructions: "Work.", context: "inherited" },
    closer: { instructions: "Close." },
  },
  external_tools: [{ name: "weather", description: "Looks outside." }],
  script: {
    rules: [
      {
        agent: "lead",
        turn: 0,
        say: "First.",
        call: [
          { tool: "ledger", args: { line: "a" } },
          { tool: "echo", args: { text: "e" } },
        ],
      },
      { agent: "lead", turn: 1, say: "Second.", delegate: [{ agent: "worker", prompt: "one" }] },
      {
        agent: "lead",
        turn: 2,
        say: "Third.",
        ask: { question: "Sure?", kind: "approval" },
        call: [{ tool: "weather", args: { city: "Oslo" } }],
      },
      {
        agent: "lead",
        turn: 3,
        delegate: [
          { agent: "sleeper", system: null, prompt: "x" },
          { system: "Sleep.", prompt: "nap", mode: "background" },
        ],
      },
      {
        agent: "lead",
        turn: 4,
        last: { regex: '\\["(tsk_\\w+)"\\]' },
        call: [{ tool: "wait_task", args: { task_id: "{{1}}" } }],
      },
      {
        agent: "lead",
        turn: 5,
        call: [
          { tool: "ledger", args: { line: "b" } },
          { tool: "handover", args: { agent: "closer", prompt: "close it" } },
        ],
      },
      { agent: "closer", turn: 0, call: [{ tool: "ledger", args: { line: "c" } }] },
      { agent: "closer", final: { closed: "{{user}}" } },
      { agent: "worker", turn: 0, call: [{ tool: "ledger", args: { line: "w" } }] },
      { agent: "worker", say: "worked" },
      { agent: "_ad_hoc", times: 1, call: [{ tool: "sleep", args: { ms: 5 } }] },
      { agent: "_ad_hoc", say: "slept" },
    ],
  },
};

interface Stop {
  /** Stop at this call of the model, counted over the whole life of the folder. */
  readonly at: number;
  calls: number;
  stop: () => void;
}

function counting(plan: Stop): (file: InvocationFile) => Model {
  return (settings) => {
    const model = rehearsalModel(settings.script);
    return {
      estimate: (request) => model.estimate(request),
      async call(request, options) {
        plan.calls += 1;
        if (plan.calls !== plan.at) return model.call(request, options);
        plan.stop();
        return new Promise((_, reject) =>
          options.signal.addEventListener("abort", () => reject(options.signal.reason)),
        );
      },
    };
  };
}

/** Answers whatever is asked until the root has ended or the engine was stopped. */
async function run(w: World, root: string | undefined, plan: Stop): Promise<{ root: string; done: boolean }> {
  await w.engine.recover();
  const task = root ?? (await w.start(file));
  let stopped = false;
  plan.stop = () => {
    stopped = true;
  };
  let ended = false;
  const ending = w.engine.result(task).then(
    () => (ended = true),
    () => undefined,
  );
  const answered = new Set<string>();
  await until(() => {
    for (const wait of w.waits(task)) {
      if (answered.has(wait.id) || stopped) continue;
      answered.add(wait.id);
      const answer = wait.body.ask === undefined ? { rain: true } : { kind: "approval", approved: true };
      void w.engine.deliver(wait.id, answer, person).catch(() => undefined);
    }
    return ended || stopped;
  });
  if (ended) await w.engine.idle();
  await w.close();
  await ending;
  return { root: task, done: ended };
}

/** Every message of every task, without what differs from one folder to the next. */
function transcript(folder: string, root: string): string {
  const w = new World(folder);
  const said = w
    .tree(root)
    .map((task) => [task.agent, w.messages(task.id).map(({ id, role, name, parts }) => ({ id, role, name, parts }))]);
  const salt = ownSalt(w.store.salt);
  w.store.close();
  const times = /"(started_at|last_event_at|ended_at)":\d+/g;
  return JSON.stringify(said).replaceAll(salt, "SALT").replaceAll(times, '"$1":0');
}

async function played(
  t: TestContext,
  at: number,
): Promise<{ transcript: string; ledger: string[]; calls: number; lives: number }> {
  const folder = tempFolder(t);
  const plan: Stop = { at, calls: 0, stop: () => undefined };
  let root: string | undefined;
  for (let lives = 1; lives < 5; lives += 1) {
    const w = new World(folder, {
      environment: { tools: [...builtinTools, ledgerTool(folder)] },
      model: counting(plan),
    });
    const life = await run(w, root, plan);
    root = life.root;
    if (life.done) return { transcript: transcript(folder, root), ledger: ledgerOf(folder), calls: plan.calls, lives };
  }
  throw new Error("it never ended");
}

test("stopped at any model call and resumed, it ends with the same transcript and does no step twice (invariant 3)", async (t) => {
  const whole = await played(t, 0);
  assert.deepEqual(whole.ledger.length, 4);
  assert.ok(whole.calls >= 11, `${whole.calls} calls`);
  assert.match(whole.transcript, /"closed":"close it"/);
  for (let at = 1; at <= whole.calls; at += 1) {
    const cut = await played(t, at);
    assert.equal(cut.lives, 2, `stopped at call ${at}`);
    assert.deepEqual(cut.ledger, whole.ledger, `stopped at call ${at}`);
    assert.equal(cut.transcript, whole.transcript, `stopped at call ${at}`);
  }
});

test("a question and an external call that are open when the process ends are answered after the restart", async (t) => {
  const folder = tempFolder(t);
  const first = new World(folder);
  await first.engine.recover();
  const root = await first.start({
    invocation: single(named("a", "go")),
    agents: { a: { instructions: "x" } },
    external_tools: file.external_tools,
    script: { rules: [{ turn: 0, ask: { question: "Go?" }, call: [{ tool: "weather" }] }, { say: "{{last}}" }] },
  });
  await until(() => first.waits(root).length === 2);
  await first.close();
  const second = new World(folder);
  t.after(() => second.close());
  await second.engine.recover();
  for (const wait of second.waits(root)) {
    const answer = wait.body.ask === undefined ? "sun" : { kind: "question", value: "yes" };
    assert.equal((await second.engine.deliver(wait.id, answer, person)).outcome, "accepted");
  }
  const { content } = await second.engine.result(root);
  assert.match(JSON.stringify(content), /sun.*yes/);
});

test("stopped at random while many children work, everything ends and no effect is doubled (invariants 1 and 3)", async (t) => {
  const folder = tempFolder(t);
  const tools = [...builtinTools, ledgerTool(folder)];
  const lines = [0, 1, 2];
  const wide = {
    invocation: all(Array.from({ length: 12 }, (_, index) => named("worker", `w${index}`))),
    agents: { worker: { instructions: "x" } },
    script: {
      rules: [
        ...lines.map((turn) => ({
          turn,
          delay_ms: 2,
          call: [
            { tool: "ledger", args: { line: `{{user}}` } },
            { tool: "echo", args: { text: "x" } },
          ],
        })),
        { say: "done" },
      ],
    },
  };
  let root: string | undefined;
  let lives = 0;
  for (let seed = 7; ; seed = (seed * 48_271) % 2_147_483_647) {
    lives += 1;
    const w = new World(folder, { environment: { tools } });
    await w.engine.recover();
    root ??= await w.start(wide);
    const ending = w.engine.result(root).then(
      (result) => result,
      () => undefined,
    );
    const pause = lives > 25 ? 60_000 : seed % 12;
    const cut = new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), pause).unref());
    const result = await Promise.race([ending, cut]);
    await w.close();
    await ending;
    if (result === undefined) continue;
    assert.ok(
      (result.content as { results: { status: string }[] }).results.every((each) => each.status === "completed"),
    );
    break;
  }
  assert.ok(lives > 1, "it was stopped at least once");
  const reader = new World(folder);
  let unknown = 0;
  for (const task of reader.tree(root).slice(1)) {
    const results = reader.toolResults(task.id);
    assert.equal(results.length, 6, "every call was answered");
    unknown += results.filter((result) => JSON.stringify(result).includes("outcome_unknown")).length;
  }
  reader.store.close();
  const written = ledgerOf(folder);
  assert.equal(new Set(written).size, written.length, "no step was done twice");
  assert.ok(written.length <= 36 && written.length >= 36 - unknown, `${written.length} lines, ${unknown} unknown`);
});

test("after a restart the model is sent the very same conversation, results in the order of the calls", async (t) => {
  const folder = tempFolder(t);
  const sent: string[] = [];
  const hanging = (settings: InvocationFile): Model => {
    const model = rehearsalModel(settings.script);
    return {
      estimate: (request) => model.estimate(request),
      async call(request, options) {
        if (request.messages.filter((message) => message.role === "assistant").length < 2)
          return model.call(request, options);
        sent.push(JSON.stringify(request));
        if (sent.length > 1) return model.call(request, options);
        return new Promise((_, reject) =>
          options.signal.addEventListener("abort", () => reject(options.signal.reason)),
        );
      },
    };
  };
  const first = new World(folder, { model: hanging });
  const root = await first.start({
    invocation: single(named("a", "go")),
    agents: { a: { instructions: "x" } },
    external_tools: file.external_tools,
    script: {
      rules: [
        {
          turn: 0,
          call: [
            { tool: "weather", args: { at: 1 } },
            { tool: "weather", args: { at: 2 } },
          ],
        },
        { turn: 1, call: [{ tool: "echo", args: { text: "x" } }] },
        { say: "done" },
      ],
    },
  });
  await until(() => first.waits(root).length === 2);
  for (const { id } of first.waits(root).toReversed()) {
    await first.engine.deliver(id, id, person);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  await until(() => sent.length === 1);
  await first.close();
  const second = new World(folder, { model: hanging });
  t.after(() => second.close());
  await second.engine.recover();
  await second.engine.result(root);
  assert.equal(sent.length, 2);
  assert.equal(sent[1], sent[0]);
});
