// The process that the crash test kills: it runs many trees of tasks at once, and answers, messages and cancels them.
// node test/crash/killed-process.ts FOLDER EPOCH SEED [finish]

import { setTimeout as pause } from "node:timers/promises";

import { systemClock } from "../../src/engine/clock.ts";
import { Engine } from "../../src/engine/engine.ts";
import { askName, taskName } from "../../src/store/names.ts";
import { toTuttiError } from "../../src/protocol/error.ts";
import { userMessage } from "../../src/protocol/task/message.ts";
import { openForReading } from "../../src/store/sqlite/database.ts";
import { takeLock } from "../../src/store/sqlite/lock.ts";
import { openStore } from "../../src/store/sqlite/sqlite-store.ts";
import { randomFrom } from "../support/seeded-random.ts";
import { openLedger, readLedger } from "./crash-ledger.ts";
import { agentRunner } from "./crash-agents.ts";
import { type Effect, mails, rootTask, roots, runnerWith } from "./crash-loops.ts";

const [folder = "", epoch = "0", seed = "1", mode] = process.argv.slice(2);
const treesAtOnce = 24;
const person = { kind: "person", name: "Ada" } as const;

const lock = takeLock(folder);
const store = openStore(folder);
const reader = openForReading(folder).database;
const effects = openLedger(folder, "effects");
const acks = openLedger(folder, "acks");
const random = randomFrom(Number(seed) * 1000 + Number(epoch));
const number = (sql: string): number => Number(reader.prepare(sql).get()?.["value"] ?? 0);

acks.write(["epoch", epoch, number("SELECT MAX(id) AS value FROM log")]);
const effect: Effect = (key, repeatable) => effects.write([epoch, key, repeatable ? "repeatable" : "once"]);
const engine = new Engine({
  store,
  clock: systemClock,
  slots: 48,
  runners: { loop: runnerWith(effect), local: agentRunner(effect) },
});
process.stdout.write("opened\n");
await engine.recover();
process.stdout.write("ready\n");

const outsideWork: Promise<void>[] = [];

/** Everything the outside does is tried until it is accepted; what a kill cut off is done again by the next process. */
function outside(work: () => Promise<void>): void {
  const soon = async (): Promise<void> => {
    await pause(random() * 30);
    try {
      await work();
    } catch (thrown) {
      const error = toTuttiError(thrown);
      // The task may be over by now: nothing is left to do for it.
      if (error.code !== "conflict" && error.code !== "not_found") throw error;
    }
  };
  outsideWork.push(soon());
}

function answerTo(id: string, kind: unknown): unknown {
  if (kind === "budget") return { kind, go_on: false };
  return kind === "approval" ? { kind, approved: true } : { kind: "question", value: `answer to ${id}` };
}

function reply(wait: number): void {
  const id = askName(store.salt, wait);
  outside(async () => {
    const kind = reader.prepare("SELECT ask FROM waits WHERE id = ?").get(wait)?.["ask"];
    const delivery = await engine.deliver(id, answerTo(id, kind), person);
    if (delivery.outcome === "accepted") acks.write(["answer", String(wait)]);
    else if (delivery.outcome !== "late") throw new Error(`${id}: ${delivery.outcome}`);
  });
}

/** What this kind of root needs from outside. */
function tend(id: number, agent: string): void {
  const name = taskName(store.salt, id);
  if (agent === "inbox") {
    for (const mail of mails) {
      outside(async () => {
        await engine.message(name, userMessage(mail));
        acks.write(["mail", String(id), mail]);
      });
    }
  }
  if (agent === "doomed") {
    outside(async () => {
      await pause(20);
      await engine.cancel(name, "not wanted any more");
      acks.write(["cancel", String(id)]);
    });
  }
  if (agent === "retried" && number(`SELECT MAX(attempt) AS value FROM runs WHERE task = ${id}`) < 2) {
    outside(async () => {
      await pause(10);
      await engine.retry(name);
      acks.write(["retry", String(id)]);
    });
  }
}

async function runTree(agent: string, key: string): Promise<void> {
  const { task: name } = await engine.start(rootTask(agent), { key });
  const id = Number.parseInt(name.slice(name.lastIndexOf("_") + 1), 36);
  acks.write(["start", String(id), key]);
  tend(id, agent);
  const result = await engine.result(name);
  acks.write(["result", String(id), result.status, JSON.stringify(result.content)]);
}

let eventsSeen = number("SELECT MAX(id) AS value FROM log");
store.onCommit(() => {
  for (const event of store.eventsAfter(eventsSeen, 10_000)) {
    eventsSeen = event.seq;
    if (event.type !== "ask.raised") continue;
    const { ask }: { ask: string } = JSON.parse(event.body ?? "{}");
    reply(Number.parseInt(ask.slice(ask.lastIndexOf("_") + 1), 36));
  }
});
const openWaits = "SELECT id FROM waits WHERE id NOT IN (SELECT wait FROM answers)";
for (const row of reader.prepare(openWaits).all()) reply(Number(row["id"]));
const openRoots = "SELECT id, agent FROM tasks WHERE parent IS NULL AND id NOT IN (SELECT task FROM results)";
for (const row of reader.prepare(openRoots).all()) tend(Number(row["id"]), String(row["agent"]));

if (mode === "finish") {
  await engine.idle();
  // What comes late for its task would otherwise meet an engine that has stopped.
  await Promise.all(outsideWork);
  await engine.idle();
  await engine.stop();
  store.close();
  lock.release();
} else {
  let count = readLedger(folder, "acks").filter(([kind]) => kind === "start").length;
  const turn = async (): Promise<void> => {
    for (;;) {
      count += 1;
      const agent = roots[Math.floor(random() * roots.length)] ?? "nested";
      await runTree(agent, `${epoch}.${count}`);
    }
  };
  await Promise.all(Array.from({ length: treesAtOnce }, turn));
}
