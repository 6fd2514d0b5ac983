// A process that opens a state folder and holds it, or writes until the disk is full: `node test/crash/disk-filling-process.ts FOLDER hold|fill`.

import { systemClock } from "../../src/engine/clock.ts";
import { Engine } from "../../src/engine/engine.ts";
import { toTuttiError } from "../../src/protocol/error.ts";
import { makeFolder } from "../../src/store/sqlite/database.ts";
import { takeLock } from "../../src/store/sqlite/lock.ts";
import { openStore } from "../../src/store/sqlite/sqlite-store.ts";
import { task } from "../support/engine-kit.ts";
import { fillUp } from "./disk-filling-loop.ts";

const [folder = "", mode] = process.argv.slice(2);
const say = (...words: readonly unknown[]): boolean => process.stdout.write(`${JSON.stringify(words)}\n`);

try {
  makeFolder(folder);
  takeLock(folder);
  const store = openStore(folder);
  say("opened");
  if (mode === "hold") setInterval(() => undefined, 60_000);
  else {
    const engine = new Engine({ store, clock: systemClock, runners: { loop: fillUp((turn) => say("durable", turn)) } });
    const { task: name } = await engine.start(task("filler"), { key: "filler" });
    say("started", name);
    await engine.result(name);
  }
} catch (thrown) {
  const { code, message } = toTuttiError(thrown);
  say("failed", code, message);
}
