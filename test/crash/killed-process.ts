// The process that the crash test kills: it runs many trees of tasks at once, and answers, messages and cancels them.
// node test/crash/killed-process.ts FOLDER EPOCH SEED work|finish [DATABASE_URL SCHEMA]

import { setTimeout as pause } from "node:timers/promises";

import { systemClock } from "../../src/engine/clock.ts";
import { Engine } from "../../src/engine/engine.ts";
import { askName, taskName } from "../../src/store/names.ts";
import { toTuttiError } from "../../src/protocol/error.ts";
import { userMessage } from "../../src/protocol/task/message.ts";
import { randomFrom } from "../support/seeded-random.ts";
import { openLedger, readLedger } from "./crash-ledger.ts";
import { agentRunner } from "./crash-agents.ts";
import { type CrashParts, openFolderRecords, openNodeRecords } from "./crash-records.ts";
import { type Effect, mails, rootTask, roots, runnerWith } from "./crash-loops.ts";

const [folder = "", epoch = "0", seed = "1", mode, url, schema = ""] = process.argv.slice(2);
const treesAtOnce = 24;
const person = { kind: "person", name: "Ada" } as const;

const effects = openLedger(folder, "effects");
const acks = openLedger(folder, "acks");
const random = randomFrom(Number(seed) * 1000 + Number(epoch));

const effect: Effect = (key, repeatable) => effects.write([epoch, key, repeatable ? "repeatable" : "once"]);
const parts: CrashParts = {
  onBegin: (mark) => acks.write(["epoch", epoch, mark]),
  engine(store) {
    process.stdout.write("opened\n");
    const runners = { loop: runnerWith(effect), local: agentRunner(effect) };
    return new Engine({ store, clock: systemClock, slots: 48, runners });
  },
};
const records =
  url === undefined ? openFolderRecords(folder, parts) : await openNodeRecords(folder, { url, schema }, parts);
const { salt, tasks, engine, rows } = records;
await records.recover();
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
  const id = askName(salt, wait);
  outside(async () => {
    const kind = rows(`SELECT ask FROM waits WHERE id = ${wait}`)[0]?.["ask"];
    const delivery = await tasks.deliver(id, answerTo(id, kind), person);
    if (delivery.outcome === "accepted") acks.write(["answer", String(wait)]);
    else if (delivery.outcome !== "late") throw new Error(`${id}: ${delivery.outcome}`);
  });
}

/** What this kind of root needs from outside. */
function tend(id: number, agent: string): void {
  const name = taskName(salt, id);
  if (agent === "inbox") {
    for (const mail of mails) {
      outside(async () => {
        await tasks.message(name, userMessage(mail));
        acks.write(["mail", String(id), mail]);
      });
    }
  }
  if (agent === "doomed") {
    outside(async () => {
      await pause(20);
      await tasks.cancel(name, "not wanted any more");
      acks.write(["cancel", String(id)]);
    });
  }
  if (agent === "retried" && rows(`SELECT id FROM runs WHERE task = ${id} AND attempt > 1`).length === 0) {
    outside(async () => {
      await pause(10);
      await tasks.retry(name);
      acks.write(["retry", String(id)]);
    });
  }
}

async function runTree(agent: string, key: string): Promise<void> {
  const { task: name } = await tasks.start(rootTask(agent), { key });
  const id = Number.parseInt(name.slice(name.lastIndexOf("_") + 1), 36);
  acks.write(["start", String(id), key]);
  tend(id, agent);
  const result = await tasks.result(name);
  acks.write(["result", String(id), result.status, JSON.stringify(result.content)]);
}

records.onAsk(reply);
const openWaits = "SELECT id FROM waits WHERE id NOT IN (SELECT wait FROM answers)";
for (const row of rows(openWaits)) reply(Number(row["id"]));
const openRoots = "SELECT id, agent FROM tasks WHERE parent IS NULL AND id NOT IN (SELECT task FROM results)";
for (const row of rows(openRoots)) tend(Number(row["id"]), String(row["agent"]));

if (mode === "finish") {
  await engine.idle();
  // What comes late for its task would otherwise meet an engine that has stopped.
  await Promise.all(outsideWork);
  await engine.idle();
  await records.close();
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
