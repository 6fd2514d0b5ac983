// A process that runs tasks on a disk that a test fills, says what happens, and takes one command a line:
// `node test/crash/full-disk-process.ts FOLDER`, then `start`, `tell NAME`, `stop`.

import { createInterface } from "node:readline";

import { z } from "zod";

import { systemClock } from "../../src/engine/clock.ts";
import { Engine } from "../../src/engine/engine.ts";
import { toTuttiError } from "../../src/protocol/error.ts";
import { userMessage } from "../../src/protocol/task/message.ts";
import type { Durable } from "../../src/ports.ts";
import { openStore } from "../../src/store/sqlite/sqlite-store.ts";
import { task } from "../support/engine-kit.ts";

const turns = 30;
const [folder = ""] = process.argv.slice(2);
const say = (...words: readonly unknown[]): boolean => process.stdout.write(`${JSON.stringify(words)}\n`);

/** Ten kilobytes a turn, and a step that may not be repeated. */
async function loop(d: Durable): Promise<number> {
  for (let turn = 0; turn < turns; turn += 1) {
    await d.step(`write${turn}`, { repeatable: true, schema: z.string() }, () => {
      say("wrote", d.task, turn);
      return `${turn}`.repeat(5_000);
    });
    await d.step(`once${turn}`, { repeatable: false, schema: z.null() }, () => {
      say("ran", d.task, turn);
      return null;
    });
    await d.sleep(`pause${turn}`, 20);
  }
  return turns;
}

const store = openStore(folder);
let stalled = false;
store.onCommit(() => {
  if ((store.stalled !== undefined) === stalled) return;
  stalled = !stalled;
  say(stalled ? "stalled" : "room", store.stalled?.message ?? "");
});
const engine = new Engine({ store, clock: systemClock, runners: { loop } });
say("resumed", await engine.recover());

const commands: Readonly<Record<string, (name: string) => Promise<void>>> = {
  async start() {
    const { task: name } = await engine.start(task("writer"));
    say("started", name);
    engine.result(name).then(
      ({ status }) => say("ended", name, status),
      (thrown: unknown) => say("lost", name, toTuttiError(thrown).code),
    );
  },
  async tell(name) {
    await engine.message(name, userMessage("hello"));
    say("told", name);
  },
  async stop() {
    await engine.stop();
    store.close();
    say("stopped", store.failure?.code ?? null);
    process.exit(0);
  },
};
for await (const line of createInterface({ input: process.stdin })) {
  const [command = "", name = ""] = line.split(" ");
  commands[command]?.(name).catch((thrown: unknown) => {
    const { code, message } = toTuttiError(thrown);
    say("refused", command, code, message);
  });
}
