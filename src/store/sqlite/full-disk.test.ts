import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { fillDisk, insideOf, onSmallDisk, seenBy } from "../../../test/support/small-disk.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { until } from "../../../test/support/wait-until.ts";

const program = join(import.meta.dirname, "../../../test/crash/full-disk-process.ts");
const turns = 30;

function onDisk(t: TestContext, bytes: number) {
  const folder = tempFolder(t);
  const [command, args] = onSmallDisk(folder, bytes, [process.execPath, program, folder]);
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  t.after(() => child.kill("SIGKILL"));
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const said = (...start: readonly unknown[]): unknown[][] =>
    output
      .split("\n")
      .filter((line) => line.endsWith("]"))
      .map((line): unknown[] => JSON.parse(line))
      .filter((words) => start.every((word, index) => words[index] === word));
  const send = (line: string): boolean => child.stdin.write(`${line}\n`);
  return { said, send, disk: () => seenBy(insideOf(child.pid ?? 0), folder) };
}

type Process = ReturnType<typeof onDisk>;

/** Tasks that are at work. */
async function working({ said, send }: Process, count: number): Promise<string[]> {
  await until(() => said("resumed").length > 0, "the process is up");
  for (let started = 0; started < count; started += 1) send("start");
  await until(() => said("ran").length > 2 * count, "the tasks are at work");
  return said("started").map(([, name]) => String(name));
}

test("on a full disk new work is refused; with room again everything goes on, none lost and none twice", async (t) => {
  const process = onDisk(t, 16 * 1024 * 1024);
  const { said, send } = process;
  const names = await working(process, 4);
  const ballast = fillDisk(process.disk());
  await until(() => said("stalled").length === 1, "the store stalls");
  assert.match(String(said("stalled")[0]?.[1]), /disk is full.*free some space.*goes on by itself/);
  ballast.topUp();

  send("start");
  send(`tell ${names[0]}`);
  await until(() => said("refused").length === 2, "new work is refused");
  assert.deepEqual(
    said("refused").map(([, command, code]) => [command, code]),
    [
      ["start", "disk_full"],
      ["tell", "disk_full"],
    ],
  );
  const [ran, wrote] = [said("ran").length, said("wrote").length];
  await sleep(2_500);
  assert.equal(said("ran").length, ran, "nothing that may not be repeated runs while nothing can be written");
  assert.ok(said("wrote").length <= wrote + 4, "and what may be repeated waits too");

  ballast.empty();
  await until(() => said("ended").length === 4, "all of it ends");
  assert.equal(said("room").length, 1);
  for (const name of names) {
    assert.deepEqual(said("ended", name), [["ended", name, "completed"]]);
    const each = Array.from({ length: turns }, (_, turn) => turn);
    for (const word of ["ran", "wrote"]) {
      assert.deepEqual(
        said(word, name).map(([, , turn]) => turn),
        each,
        `${name} ${word} each turn once`,
      );
    }
  }
  send("start");
  await until(() => said("started").length === 5, "new work is taken again");
});

test("a process that is stopped on a full disk ends at once, and says that what waited was not written", async (t) => {
  const process = onDisk(t, 16 * 1024 * 1024);
  const { said, send } = process;
  await working(process, 2);
  fillDisk(process.disk());
  await until(() => said("stalled").length === 1, "the store stalls");
  const asked = Date.now();
  send("stop");
  await until(() => said("stopped").length === 1, "it stops");
  assert.ok(Date.now() - asked < 3_000, "without waiting for room");
  assert.deepEqual(said("stopped"), [["stopped", "disk_full"]]);
  assert.deepEqual(said("ended"), []);
});
