import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import fc from "../../../test/support/properties.ts";

import { systemClock } from "../../engine/clock.ts";
import { Engine } from "../../engine/engine.ts";
import { Failure } from "../../protocol/failure.ts";
import { userMessage } from "../../protocol/task/message.ts";
import type { NewTask } from "../../ports.ts";
import { openStore } from "../../store/sqlite/sqlite-store.ts";
import { cleanUp } from "../shared/process/clean-up.ts";
import { ProcessNote } from "../shared/process/end-processes.ts";
import { processTable } from "../shared/process/process-table.ts";
import { CommandResult } from "./command-result.ts";
import { commandRunner } from "./runner.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "tutti-command-")));
const shown: string[] = [];
const store = openStore(mkdtempSync(join(folder, "state-")));
const engine = new Engine({
  store,
  clock: systemClock,
  runners: { command: commandRunner() },
  cleanUp,
  onLive: ({ channel, text }) => shown.push(`${channel}:${text}`),
});
await engine.recover();
after(async () => {
  await engine.stop();
  store.close();
  rmSync(folder, { recursive: true });
});

function task(config: Record<string, unknown>, more: Partial<NewTask> = {}): NewTask {
  const rights = { tools: [], roots: [folder] };
  return { runner: { kind: "command", config }, agent: "command", input: null, rights, ...more };
}

async function outcome(config: Record<string, unknown>, more?: Partial<NewTask>) {
  const { task: id } = await engine.start(task(config, more));
  return engine.result(id);
}

async function completed(config: Record<string, unknown>, more?: Partial<NewTask>): Promise<CommandResult> {
  const result = await outcome(config, more);
  assert.equal(result.status, "completed", JSON.stringify(result.content));
  return CommandResult.parse(result.content);
}

async function failed(config: Record<string, unknown>, more?: Partial<NewTask>): Promise<Failure> {
  const result = await outcome(config, more);
  assert.equal(result.status, "failed", JSON.stringify(result.content));
  return Failure.parse(result.content);
}

/** Waits for a file that a command writes whole, by moving it into place. */
async function written(name: string): Promise<string> {
  const path = join(folder, name);
  for (let look = 0; look < 500; look += 1) {
    if (existsSync(path)) return readFileSync(path, "utf8").trim();
    await sleep(10);
  }
  throw new Error(`${name} was not written`);
}

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

async function allGone(pids: readonly number[]): Promise<boolean> {
  for (let look = 0; look < 300; look += 1) {
    if (!pids.some(isThere)) return true;
    await sleep(10);
  }
  return false;
}

/** A tree of three processes that all ignore being asked to end; their pids are in the file. */
const stubbornTree = (file: string): string =>
  `trap '' TERM; sleep 60 & a=$!; (trap '' TERM; sleep 60) & echo "$$ $a $!" > ${file}.new; mv ${file}.new ${file}; wait; sleep 60`;

async function pidsIn(file: string): Promise<number[]> {
  const pids = (await written(file)).split(" ").map(Number);
  assert.equal(pids.length, 3);
  assert.ok(pids.every(isThere));
  return pids;
}

test("a command's exit status, output and time are the task's result", async () => {
  const result = await completed({ shell: "echo out; echo err >&2" });
  assert.ok(result.duration_ms < 10_000);
  assert.deepEqual(
    { ...result, duration_ms: 0 },
    {
      exit_code: 0,
      signal: null,
      timed_out: false,
      stdout: "out\n",
      stderr: "err\n",
      truncated: false,
      duration_ms: 0,
      leftovers: 0,
    },
  );
});

test("arguments are passed exactly, whatever is in them", async () => {
  const print = "process.stdout.write(JSON.stringify(process.argv.slice(1)))";
  const nasty = [
    "",
    " ",
    "a b",
    "'",
    '"',
    "\n",
    "$HOME",
    "`id`",
    "\\",
    "-n",
    "--",
    "*",
    "é😀",
    "a;b|c&d",
    "\t",
    "$@",
    "${x}",
  ];
  const argument = fc.oneof(
    fc.constantFrom(...nasty),
    fc.string({ unit: "grapheme" }).filter((text) => !text.includes("\0")),
  );
  const check = async (args: string[]): Promise<void> => {
    const { stdout } = await completed({ argv: [process.execPath, "-e", print, "--", ...args] });
    assert.deepEqual(JSON.parse(stdout), args);
  };
  await check(nasty);
  await fc.assert(fc.asyncProperty(fc.array(argument, { maxLength: 8 }), check), { numRuns: 8 });
});

test("no shell reads argv, and a shell reads what was given as shell", async () => {
  assert.equal((await completed({ argv: ["echo", "$((1 + 1))"] })).stdout, "$((1 + 1))\n");
  assert.equal((await completed({ shell: "echo $((1 + 1))" })).stdout, "2\n");
});

test("the message of the task is what the command reads, unless something else was given", async () => {
  assert.equal((await completed({ argv: ["cat"] }, { input: "plain" })).stdout, "plain");
  assert.equal((await completed({ argv: ["cat"] }, { input: userMessage("said") })).stdout, "said");
  assert.equal(
    (await completed({ argv: ["cat"] }, { input: { agent: "x", message: userMessage("held") } })).stdout,
    "held",
  );
  assert.equal((await completed({ argv: ["cat"] }, { input: { other: 1 } })).stdout, "");
  assert.equal((await completed({ argv: ["cat"], stdin: "given" }, { input: "plain" })).stdout, "given");
});

test("a command that does not read a long input is not disturbed by it", async () => {
  assert.equal((await completed({ argv: ["true"], stdin: "x".repeat(1_000_000) })).exit_code, 0);
});

test("a command runs in its folder with its environment, and is told the key of its step", async () => {
  process.env["TUTTI_TEST_SECRET"] = "hush";
  const result = await completed({ argv: ["env"], env: { GIVEN: "1" } });
  const { stdout } = await completed({ argv: ["pwd"], workdir: "." });
  delete process.env["TUTTI_TEST_SECRET"];
  assert.equal(stdout, `${folder}\n`);
  assert.match(result.stdout, /^GIVEN=1$/m);
  assert.match(result.stdout, /^TUTTI_STEP=.+\/1\.1\/run$/m);
  assert.doesNotMatch(result.stdout, /hush/);
});

test("another exit status fails the task and says which, with the last it said", async () => {
  const failure = await failed({ shell: "echo fine; echo it broke >&2; exit 3" });
  assert.equal(failure.code, "task_failed");
  assert.match(failure.message, /exit status 3.*\(it broke\)/);
  assert.equal(failure.details?.["exit_code"], 3);
  assert.equal(failure.details?.["stdout_tail"], "fine\n");
  assert.equal(failure.details?.["stderr_tail"], "it broke\n");
});

test("an exit status that was declared well completes the task", async () => {
  assert.equal((await completed({ shell: "exit 3", ok_exit: [0, 3] })).exit_code, 3);
  assert.equal((await failed({ shell: "exit 0", ok_exit: [3] })).code, "task_failed");
});

test("a command ended by a signal fails the task and names the signal", async () => {
  assert.match((await failed({ shell: "kill -9 $$" })).message, /was ended by SIGKILL/);
});

test("the environment is never told in what is kept or shown", async () => {
  const secret = `s3cret-${process.pid}`;
  const { task: id } = await engine.start(task({ shell: "exit 1", env: { TOKEN: secret } }));
  const result = await engine.result(id);
  const events = store.eventsAfter(0, 100_000);
  assert.doesNotMatch(JSON.stringify([result, events, shown]), new RegExp(secret));
});

const mistakes: [string, Record<string, unknown>, RegExp][] = [
  ["a program that is not there", { argv: ["no-such-program"] }, /no program no-such-program/],
  ["a program that may not be run", { argv: ["./plain"] }, /not executable/],
  ["a folder that is not there", { argv: ["true"], workdir: "nowhere" }, /nowhere.*ENOENT/],
  ["a folder outside the roots", { argv: ["true"], workdir: "/" }, /outside of what the task may touch/],
  ["an unknown field", { argv: ["true"], shel: "x" }, /"shel"/],
];
writeFileSync(join(folder, "plain"), "");

for (const [what, config, message] of mistakes) {
  test(`${what} fails the task with a clear message`, async () => {
    assert.match((await failed(config)).message, message);
  });
}

test("output is shown while the command still runs", async () => {
  const before = shown.length;
  const { task: id } = await engine.start(
    task({ shell: "echo first; while ! [ -e go-on ]; do sleep 0.01; done; echo second" }),
  );
  for (let look = 0; look < 500 && shown.length === before; look += 1) await sleep(10);
  assert.deepEqual(shown.slice(before), ["output:first\n"]);
  writeFileSync(join(folder, "go-on"), "");
  await engine.result(id);
  assert.equal(shown.slice(before).join(""), "output:first\noutput:second\n");
});

test("ten megabytes on each stream are kept within the limits, beginning and end", async () => {
  const before = shown.length;
  const script =
    "for (const s of [process.stdout, process.stderr]) { s.write('<begin>'); for (let i = 0; i < 160; i++) s.write('é'.repeat(32768)); s.write('<end>'); }";
  const result = await completed({ argv: [process.execPath, "-e", script], max_output_bytes: 65_536 });
  const live = shown.slice(before).join("").length;
  assert.equal(result.truncated, true);
  for (const output of [result.stdout, result.stderr]) {
    assert.ok(Buffer.byteLength(output) <= 65_536 + 64);
    assert.match(output, /^<begin>é+\n\[… 104\d{5} bytes left out …\]\né+<end>$/);
  }
  assert.ok(live < 2_000_000, `${live} characters were shown live`);
});

test("a character cut between two writes arrives whole", async () => {
  const { stdout } = await completed({ shell: "printf '\\303'; sleep 0.05; printf '\\251'" });
  assert.equal(stdout, "é");
});

test("a command that takes too long is ended with all its processes, and what it said is told", async () => {
  const failure = await failed({ shell: `echo begun; ${stubbornTree("late")}`, timeout_ms: 1_500, grace_ms: 100 });
  assert.equal(failure.code, "deadline");
  assert.equal(failure.retry, "unknown");
  assert.match(failure.message, /longer than its 1500 ms/);
  assert.equal(failure.details?.["stdout_tail"], "begun\n");
  const pids = (await written("late")).split(" ").map(Number);
  assert.deepEqual(pids.filter(isThere), []);
});

test("a command that ends when asked is given the time for it", async () => {
  const config = { shell: "trap 'echo tidied > tidy; exit 0' TERM; while :; do sleep 0.02; done", timeout_ms: 1_000 };
  assert.equal((await failed(config)).code, "deadline");
  assert.equal(await written("tidy"), "tidied");
});

test("invariant 4: a cancel ends a tree of processes that ignores being asked", async () => {
  const { task: id } = await engine.start(task({ shell: stubbornTree("stubborn"), grace_ms: 100 }));
  const pids = await pidsIn("stubborn");
  await engine.cancel(id, "enough");
  assert.equal((await engine.result(id)).status, "canceled");
  assert.equal(await allGone(pids), true);
});

test("invariant 7: the deadline of the task ends the processes too", async () => {
  const begun = engine.start(task({ shell: stubbornTree("deadline"), grace_ms: 50 }, { deadline: Date.now() + 2_000 }));
  const pids = await pidsIn("deadline");
  const result = await engine.result((await begun).task);
  assert.equal(result.status, "failed");
  assert.equal(Failure.parse(result.content).code, "deadline");
  assert.equal(await allGone(pids), true);
});

test("processes that a command leaves behind are ended with it, and counted", async () => {
  const result = await completed({ shell: "sleep 60 > /dev/null 2>&1 & echo $! > left.new; mv left.new left" });
  assert.equal(result.exit_code, 0);
  assert.equal(result.leftovers, 1);
  assert.equal(isThere(Number(await written("left"))), false);
});

test("a process left behind that keeps the output open does not keep the task open", async () => {
  const result = await completed({ shell: "echo said; trap '' TERM; sleep 60 & true", grace_ms: 50 });
  assert.equal(result.stdout, "said\n");
  assert.ok(result.duration_ms < 5_000);
});

test("a process that left the session and keeps the output open does not keep the task open, and is ended", async () => {
  const { stdout } = await completed({ shell: "setsid sleep 20 & echo $!" });
  const pid = Number(stdout);
  assert.ok(pid > 1);
  const isLeft = isThere(pid);
  if (isLeft) process.kill(pid, "SIGKILL");
  assert.ok(!isLeft || process.platform !== "linux");
});

test("what a filter behind the command still writes after its exit is kept", async () => {
  const { stdout } = await completed({ shell: "(sleep 0.05; echo late) & echo early" });
  assert.equal(stdout, "early\nlate\n");
});

test("invariant 3: a command's pid, start and group are in the store while it runs, and gone once its outcome is", async () => {
  const { task: id } = await engine.start(
    task({ shell: "echo $$ > noted.new; mv noted.new noted; while ! [ -e seen ]; do sleep 0.01; done" }),
  );
  const pid = Number(await written("noted"));
  const notes = (): ProcessNote[] =>
    store
      .openNotes(Number.parseInt(id.slice(id.lastIndexOf("_") + 1), 36))
      .map((note) => ProcessNote.parse(JSON.parse(note).process));
  const note = notes().find((found) => found.pid === pid);
  // The control group is noted only where there is one.
  const { cgroup: _, place, ...noted } = note ?? {};
  assert.equal(typeof place, "string", "it says on which machine the process is");
  assert.deepEqual(noted, { pid, start: await processTable.start(pid), group: pid, step: `${id}/1.1/run` });
  writeFileSync(join(folder, "seen"), "");
  assert.equal((await engine.result(id)).status, "completed");
  assert.equal(
    notes().some((found) => found.pid === pid),
    false,
  );
});

test("many commands at once keep apart", async () => {
  const results = await Promise.all(
    Array.from({ length: 40 }, (_, index) => completed({ shell: `sleep 0.0${index % 7}; echo ${index}` })),
  );
  assert.deepEqual(
    results.map(({ stdout }) => Number(stdout)),
    Array.from({ length: 40 }, (_, index) => index),
  );
});
