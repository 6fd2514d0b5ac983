import assert from "node:assert/strict";
import { test } from "node:test";

import { z } from "zod";

import {
  again,
  answer,
  anything,
  ask,
  codeOf,
  killed,
  type Loops,
  never,
  openWaits,
  person,
  started,
  task,
  text,
  world,
  type World,
} from "../../test/support/engine-kit.ts";
import { leftByKill } from "../../test/support/kill-process.ts";
import { fencedAfterKill } from "../../test/support/stores.ts";
import { settle } from "../../test/support/settle.ts";
import { tempFolder } from "../../test/support/temp-folder.ts";
import { TaskEvent } from "../protocol/task/event.ts";
import { CompleteMessage, userMessage } from "../protocol/task/message.ts";
import { openView } from "../store/sqlite/sqlite-view.ts";
import { eventView } from "./event-view.ts";
import { idInName, taskName } from "../store/names.ts";

const usage = { input_tokens: 60, output_tokens: 0, money_micro_usd: 3 };
const go = { kind: "budget", go_on: true };

/** Every event of the tree as a reader is given it, by another connection. */
async function viewed(w: World): Promise<TaskEvent[]> {
  const view = openView(w.folder);
  try {
    return (await view.eventsAfter({ after: 0, limit: 10_000 })).rows.map((event) =>
      TaskEvent.parse(eventView(view.salt, event)),
    );
  } finally {
    view.close();
  }
}

interface Used {
  readonly steps: number;
  readonly tokens: number;
  readonly money: number;
}

/** Steps, tokens and money of each task, as its events say. */
function countedIn(events: readonly TaskEvent[]): Map<string, Used> {
  const tasks = new Map<string, Used>();
  for (const event of events) {
    const before = tasks.get(event.task) ?? { steps: 0, tokens: 0, money: 0 };
    const { steps, tokens, money } = usedIn(event);
    const now = { steps: before.steps + steps, tokens: before.tokens + tokens, money: before.money + money };
    tasks.set(event.task, now);
  }
  return tasks;
}

function usedIn({ type, data }: TaskEvent): Used {
  if (type === "step.finished") return { steps: 1, tokens: data.tokens, money: data.money_micro_usd };
  if (type === "message.added" && data.step !== undefined)
    return { steps: 1, tokens: data.step.tokens, money: data.step.money_micro_usd ?? 0 };
  if (type !== "budget.settled") return { steps: 0, tokens: 0, money: 0 };
  const { input_tokens, output_tokens, money_micro_usd } = data.spent;
  return { steps: 0, tokens: input_tokens + output_tokens, money: money_micro_usd ?? 0 };
}

/** The same, as the store has counted it. */
async function recordedIn(w: World, root: string): Promise<Map<string, Used>> {
  const view = openView(w.folder);
  try {
    const { rows } = await view.tree(idInName(w.store.salt, root) ?? 0, { after: 0, limit: 1_000 });
    return new Map(
      rows.map(({ id, steps, tokens, money }) => [taskName(w.store.salt, id), { steps, tokens, money }] as const),
    );
  } finally {
    view.close();
  }
}

const loops: Loops = {
  root: async (d) => {
    const kids = await d.spawn("kids", [
      task("asks"),
      task("external", { detached: true }),
      task("rich", { budget: { tokens: 70 } }),
      task("fails"),
      task("endless", { input: { message: userMessage("go on for ever") } }),
      task("handing"),
    ]);
    await d.send("mail", kids[5] ?? "", userMessage("hello"));
    return d.join(kids);
  },
  asks: async (d) => {
    const left = await d.open("left", { ask, schema: anything });
    await d.withdraw("drop", left);
    await d.wait("which", { ask: { ...ask, choices: ["red", "blue"] }, schema: anything });
    return d.wait("silence", { ask: { kind: "approval", question: "may I?" }, within: 1_000, schema: anything });
  },
  external: async (d) => {
    const schema = z.object({ ok: z.boolean() });
    const first = await d.wait("tool", { label: "weather", details: { city: "Oslo" }, schema });
    return [first, await d.wait("slow", { label: "tide", within: 1_000, schema })];
  },
  rich: async (d) => {
    d.say("said", userMessage("counting"));
    await d.step("a", { ...again, reserve: usage, spent: () => usage }, () => "a");
    const message = CompleteMessage;
    await d.step("b", { repeatable: true, schema: message, reserve: usage, event: "message.added" }, () =>
      Promise.resolve({ ...userMessage("said by the model"), id: "m1", created_at: 1 }),
    );
    return d.step("c", { ...again, reserve: usage }, () => never);
  },
  fails: async (d) => {
    await codeOf(d.step("bad", { repeatable: false, schema: text }, () => Promise.reject(new Error("broken"))));
    if (d.attempt === 1) return d.again("again", { outcome: "failed", reason: "the first try broke" });
    throw new Error("nothing works");
  },
  endless: (d) => d.step("work", { repeatable: false, schema: text }, () => never),
  handing: async (d) => {
    if (d.run === 1) return d.handover("to", { agent: "handing", input: null, reason: "knows more" });
    const mail = await d.receive("mail", { block: false });
    return [mail?.id, await d.sleep("nap", 5_000)];
  },
};

/** As a start in which answers arrive before any loop has had its turn. */
async function restarted(before: World, t: Parameters<typeof tempFolder>[0], early: [string, unknown]): Promise<World> {
  const folder = leftByKill(t, before);
  await fencedAfterKill(before.stop());
  const after = world(folder, loops, { clock: before.clock });
  t.after(() => fencedAfterKill(after.stop()));
  const recovering = after.engine.recover();
  await Promise.all([recovering, after.engine.deliver(...early, person)]);
  return after;
}

test("invariant 9: every event of every kind the engine emits can be read, in order, with what it points at in place", async (t) => {
  let w = world(tempFolder(t), loops);
  const name = await started(w, "root", { budget: { tokens: 150, money_micro_usd: 1_000 } });
  const root = idInName(w.store.salt, name) ?? 0;
  const child = (position: number): string => taskName(w.store.salt, root + position);
  await settle();
  const [tool = ""] = openWaits(w);
  w = await restarted(w, t, [tool, { ok: "perhaps" }]);
  await settle();
  await w.engine.retry(child(6));
  await settle();
  for (const open of openWaits(w)) {
    for (const value of [answer("red"), { ok: true }, go]) await w.engine.deliver(open, value, person);
  }
  await settle();
  w = await killed(w, t, loops);
  await settle();
  w.clock.advance(1_000);
  await settle();
  for (const open of openWaits(w)) await w.engine.deliver(open, go, person);
  await w.engine.cancel(child(5), "not needed");
  await settle();
  await w.engine.cancel(name, "enough");
  const events = await viewed(w);
  assert.deepEqual(
    events.map((event) => event.seq),
    events.map((event) => event.seq).toSorted((a, b) => a - b),
  );
  assert.deepEqual(countedIn(events), await recordedIn(w, name), "what every task used can be counted from its events");
  const emitted = new Set<string>(events.map((event) => event.type));
  const notTheEngines = new Set([
    "evidence.added",
    "ask.reopened",
    "call.allowed",
    "call.drifted",
    "check.started",
    "model.changed",
    "model.waiting",
  ]);
  const types = TaskEvent.options.flatMap((option) => [...option.shape.type.values]);
  const missing = types.filter(
    (type) => !emitted.has(type) && !notTheEngines.has(type) && !/^(?:session|goal|route|handoff)\./.test(type),
  );
  assert.deepEqual(missing, [], "the scenario brings about every kind of event");
  const prompts = events.flatMap((event) => (event.type === "task.created" ? (event.data.prompt ?? []) : []));
  assert.deepEqual(prompts, ["go on for ever"]);
  const answers = events.flatMap((event) => (event.type === "ask.answered" ? [event.data.answer] : []));
  assert.deepEqual(
    answers.filter((given) => given.kind === "question"),
    [answer("red")],
  );
});

test("an event says what a call may have used that was under way when its task was canceled", async (t) => {
  const w = world(tempFolder(t), { root: (d) => d.step("call", { ...again, reserve: usage }, () => never) });
  t.after(() => w.stop());
  const name = await started(w, "root");
  await settle();
  await w.engine.cancel(name, "enough");
  await settle();
  const events = await viewed(w);
  assert.deepEqual(
    events.flatMap((event) => (event.type === "budget.settled" ? [event.data] : [])),
    [{ key: "call", spent: usage }],
  );
  assert.deepEqual(countedIn(events), await recordedIn(w, name));
});
