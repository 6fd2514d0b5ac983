import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { runTool } from "../../src/agent/tools/run.ts";
import { z } from "zod";

import { ProcessNote } from "../../src/runner/shared/process/end-processes.ts";
import { cleanUp } from "../../src/runner/shared/process/clean-up.ts";
import { groupFor, groupMembers, killGroup, removeGroup } from "../../src/runner/shared/process/run-cgroup.ts";
import { sandboxCommands } from "../../src/runner/shared/sandbox/sandbox-commands.ts";
import { tryTool, workspace } from "../support/try-tool.ts";

const linux = process.platform === "linux" ? false : "only Linux shows what is needed to find them";
const unconfined = runTool(sandboxCommands({ confined: false, reason: "", advice: "" }));

/** Each writes its process id into a file of its own, then sleeps in a way that ignores being asked to end. */
const stay = (name: string): string => `sh -c "trap '' TERM HUP; echo \\$\\$ > ${name}; while :; do sleep 1; done"`;
const detached = [
  `setsid ${stay("one.pid")} > /dev/null 2>&1 < /dev/null &`,
  `(setsid sh -c '${stay("two.pid").replaceAll("'", "'\\''")} > /dev/null 2>&1 &' &)`,
  `nohup setsid ${stay("three.pid")} > /dev/null 2>&1 &`,
].join("\n");
const wait = "for i in $(seq 100); do [ -s one.pid ] && [ -s two.pid ] && [ -s three.pid ] && break; sleep 0.05; done";

function pidsIn(t: TestContext, root: string): number[] {
  const pids = readdirSync(root)
    .filter((name) => name.endsWith(".pid"))
    .map((name) => Number(readFileSync(join(root, name), "utf8")));
  // A test that fails must not leave them either.
  t.after(() => pids.filter(isAlive).forEach((pid) => process.kill(pid, "SIGKILL")));
  return pids;
}

function isAlive(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return false;
  }
}

test("processes that detached themselves are ended with the run", { skip: linux }, async (t) => {
  const { root } = workspace(t);
  const outcome = await tryTool(unconfined, { shell: `${detached}\n${wait}` }, [root]);
  assert.partialDeepStrictEqual(outcome, { exit_code: 0 });
  const pids = pidsIn(t, root);
  assert.equal(pids.length, 3);
  assert.deepEqual(pids.filter(isAlive), []);
});

test("a cancel ends them too", { skip: linux }, async (t) => {
  const { root } = workspace(t);
  const stop = new AbortController();
  const running = tryTool(unconfined, { shell: `${detached}\n${wait}\necho up; sleep 300` }, [root], {
    signal: stop.signal,
    live: () => stop.abort(new Error("enough")),
  });
  await assert.rejects(running, /enough/);
  const pids = pidsIn(t, root);
  assert.equal(pids.length, 3);
  assert.deepEqual(pids.filter(isAlive), []);
});

for (const how of ["the note", "the variable in their environment alone"] as const) {
  test(`after a crash, recovery ends them by ${how}`, { skip: linux }, (t) => recover(t, how === "the note"));
}

async function recover(t: TestContext, withGroup: boolean): Promise<void> {
  const { root } = workspace(t);
  const from = (path: string): string => JSON.stringify(import.meta.resolve(path));
  const script = `
    import { tryTool } from ${from("../support/try-tool.ts")};
    import { runTool } from ${from("../../src/agent/tools/run.ts")};
    import { sandboxCommands } from ${from("../../src/runner/shared/sandbox/sandbox-commands.ts")};
    let noted;
    await tryTool(runTool(sandboxCommands({ confined: false })), { shell: process.argv[2] }, [process.argv[1]], {
      note: async (note) => { noted = note; },
      live: () => console.log(JSON.stringify(noted)),
    });`;
  const shell = `${detached}\n${wait}\necho up`;
  const argv = ["--input-type=module", "-e", script, root, `${shell}; sleep 300`];
  const child = spawn(process.execPath, argv, { stdio: ["ignore", "pipe", "inherit"] });
  t.after(() => child.kill("SIGKILL"));
  const [chunk]: unknown[] = await once(child.stdout, "data");
  const note: unknown = JSON.parse(String(chunk).split("\n")[0] ?? "");
  child.kill("SIGKILL");
  await once(child, "exit");
  const pids = pidsIn(t, root);
  assert.equal(pids.filter(isAlive).length, 3);
  const noted = z.object({ process: ProcessNote }).parse(note).process;
  const { cgroup, ...plain } = noted;
  await cleanUp({ process: withGroup ? noted : plain }, { graceMs: 0 });
  assert.deepEqual(pids.filter(isAlive), []);
  removeGroup(cgroup);
}

const other = spawn("sleep", ["30"], { stdio: "ignore" });
const group = groupFor(other.pid ?? 0);
other.kill("SIGKILL");
removeGroup(group);
const noGroup = group === undefined ? "there is no writable cgroup v2 here" : false;

test(
  "with a control group, a process that also dropped its environment is ended",
  { skip: linux || noGroup },
  async (t) => {
    const { root } = workspace(t);
    const script = `env -i /usr/bin/setsid ${stay("bare.pid")} > /dev/null 2>&1 < /dev/null &
    for i in $(seq 100); do [ -s bare.pid ] && break; sleep 0.05; done`;
    await tryTool(unconfined, { shell: script }, [root]);
    const pids = pidsIn(t, root);
    assert.equal(pids.length, 1);
    assert.deepEqual(pids.filter(isAlive), []);
  },
);

test("a control group has its processes, ends all of them, and is removed", { skip: linux || noGroup }, async (t) => {
  const child = spawn("sleep", ["60"], { stdio: "ignore" });
  t.after(() => child.kill("SIGKILL"));
  const made = groupFor(child.pid ?? 0);
  assert.ok(made !== undefined);
  assert.deepEqual(groupMembers(made), [child.pid]);
  killGroup(made);
  for (let looks = 0; looks < 100 && groupMembers(made).length > 0; looks += 1) await sleep(20);
  assert.deepEqual(groupMembers(made), []);
  removeGroup(made);
  assert.deepEqual(groupMembers(made), []);
});
