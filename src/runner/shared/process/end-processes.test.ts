import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { cleanUp } from "./clean-up.ts";
import { endProcesses, type ProcessNote, stepVariable } from "./end-processes.ts";
import { processPlace, processTable, psProcesses } from "./process-table.ts";

/** A session of its own that prints a line when it is ready. */
async function session(script: string, step = `ended-${process.pid}/1.1/run`) {
  const child = spawn("/bin/sh", ["-c", script], {
    detached: true,
    stdio: ["ignore", "pipe", "ignore"],
    env: { PATH: process.env["PATH"], [stepVariable]: step },
  });
  const exited = once(child, "exit");
  const [line] = await once(child.stdout, "data");
  const pid = child.pid ?? 0;
  const note: ProcessNote = { pid, start: (await processTable.start(pid)) ?? "gone", group: pid, step };
  const members = async (): Promise<number> =>
    (await processTable.list()).filter((entry) => (entry.group === pid || entry.session === pid) && !entry.ended)
      .length;
  return { note, exited, members, said: String(line).trim(), end: () => endGroup(pid) };
}

function endGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // Already gone.
  }
}

const ignoring = "trap '' TERM; (trap '' TERM; sleep 60) & (sleep 60) & echo ready; wait; sleep 60";

test("a whole group goes, those that ignore being asked too", async () => {
  const { note, members, end } = await session(ignoring);
  try {
    assert.ok((await members()) >= 3);
    const { found, left } = await endProcesses(note, { graceMs: 100 });
    assert.ok(found >= 3);
    assert.deepEqual(left, []);
    assert.equal(await members(), 0);
  } finally {
    end();
  }
});

test("a group goes also where only ps tells the processes", async () => {
  const { note, members, end } = await session(ignoring);
  try {
    const start = (await psProcesses.start(note.pid)) ?? "";
    const { left } = await endProcesses({ ...note, start }, { graceMs: 50, table: psProcesses });
    assert.deepEqual(left, []);
    assert.equal(await members(), 0);
  } finally {
    end();
  }
});

test("whoever ends when asked is not killed", async () => {
  const { note, exited, end } = await session("trap 'exit 7' TERM; echo ready; while :; do sleep 0.02; done");
  try {
    await endProcesses(note);
    assert.deepEqual(await exited, [7, null]);
  } finally {
    end();
  }
});

test(
  "members that outlive their leader are found by the step they were started for",
  { skip: process.platform !== "linux" },
  async () => {
    const { note, exited, members, end } = await session("sleep 60 & echo ready");
    try {
      await exited;
      assert.equal(await members(), 1);
      await endProcesses({ ...note, step: "another/1.1/run" });
      assert.equal(await members(), 1, "a group that is not surely ours is left alone");
      await cleanUp({ process: note });
      assert.equal(await members(), 0);
    } finally {
      end();
    }
  },
);

test(
  "members that made a group of their own in the session go too",
  { skip: process.platform !== "linux" },
  async () => {
    const { note, members, end } = await session("set -m; sleep 60 & echo $!; wait", "t/2.1/run");
    try {
      assert.equal(await members(), 2);
      await endProcesses(note);
      assert.equal(await members(), 0);
    } finally {
      end();
    }
  },
);

test("invariant 3: a pid that now belongs to another process is not touched", async () => {
  const { note, members, end } = await session("echo ready; sleep 60");
  try {
    await cleanUp({ process: { ...note, start: `${note.start}0` } });
    await sleep(50);
    assert.ok((await members()) >= 1);
  } finally {
    end();
  }
});

test("invariant 3: cleaning up twice, or when all is gone, does nothing", async () => {
  const { note, members, end } = await session("echo ready; sleep 60");
  try {
    await cleanUp({ process: note });
    assert.equal(await members(), 0);
    await cleanUp({ process: note });
  } finally {
    end();
  }
});

test("a process with the same pid and start on another machine is another process, and is left alone", async (context) => {
  const { note, end } = await session("echo ready; sleep 60");
  try {
    const kill = context.mock.method(process, "kill", () => true);
    await cleanUp({ process: { ...note, place: "another machine" } });
    assert.equal(kill.mock.callCount(), 0);
    context.mock.restoreAll();
    assert.ok((await endProcesses({ ...note, place: processPlace() })).found > 0);
  } finally {
    context.mock.restoreAll();
    end();
  }
});

test("a note of another kind is ignored, and none can make us signal everybody", async (context) => {
  const kill = context.mock.method(process, "kill", () => true);
  const notes: unknown[] = [undefined, null, 7, "x", {}, { process: 1 }, { process: { pid: 5 } }];
  for (const pid of [-1, 0, 1, 1.5]) {
    const start = await processTable.start(1);
    notes.push({ process: { pid, start, group: pid, step: "" } });
  }
  for (const note of notes) await cleanUp(note);
  assert.equal(kill.mock.callCount(), 0);
});

test("a process that cannot be ended is named instead of waited for without end", async (context) => {
  const { note, end } = await session("echo ready; sleep 60");
  try {
    context.mock.method(process, "kill", () => true);
    await assert.rejects(cleanUp({ process: note }, { graceMs: 50, killWaitMs: 100 }), {
      code: "busy",
      message: new RegExp(`process ${note.pid}`),
    });
  } finally {
    context.mock.restoreAll();
    end();
  }
});
