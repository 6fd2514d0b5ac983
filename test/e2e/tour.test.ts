import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";

import { GoalReport } from "../../src/protocol/task/goal-report.ts";
import { TaskEvent } from "../../src/protocol/task/event.ts";
import { type Ended, jsonLines } from "../support/cli-process.ts";
import { repositoryAt } from "../support/git-kit.ts";
import { tempFolder } from "../support/temp-folder.ts";

const bin = join(import.meta.dirname, "..", "..", "bin", "tutti.js");
/** A loaded machine is slow, and only a tour that hangs should fail. */
const patienceMs = 300_000;

interface Newcomer {
  /** Where the repositories of tours are made. */
  readonly temporary: string;
  readonly tutti: (...args: readonly string[]) => Promise<Ended>;
}

/** Somebody without keys, without a git identity and without any file of their own; with these programs alone if some are named. */
function newcomer(t: TestContext, programs?: readonly string[]): Newcomer {
  const folder = tempFolder(t);
  const home = join(folder, "home");
  const temporary = join(folder, "tmp");
  mkdirSync(home);
  mkdirSync(temporary);
  const env = {
    TUTTI_COMMAND: "tutti",
    PATH: programs === undefined ? process.env["PATH"] : folderOf(join(folder, "bin"), programs),
    HOME: home,
    TMPDIR: temporary,
    NO_COLOR: "1",
  };
  return {
    temporary,
    tutti: async (...args) => {
      const child = spawn(process.execPath, [bin, ...args], { cwd: home, env, stdio: "pipe", timeout: patienceMs });
      const heard = { out: "", err: "" };
      child.stdout.on("data", (chunk: Buffer) => (heard.out += chunk.toString()));
      child.stderr.on("data", (chunk: Buffer) => (heard.err += chunk.toString()));
      child.stdin.end();
      const [status]: (number | null)[] = await once(child, "close");
      return { status: status ?? null, ...heard };
    },
  };
}

function folderOf(folder: string, programs: readonly string[]): string {
  mkdirSync(folder);
  symlinkSync(process.execPath, join(folder, "node"));
  for (const program of programs) {
    const found = (process.env["PATH"] ?? "")
      .split(":")
      .map((each) => join(each, program))
      .find((file) => existsSync(file));
    symlinkSync(found ?? "", join(folder, program));
  }
  return folder;
}

test("a newcomer sees one goal go from its words to a report whose evidence is real", async (t) => {
  const { tutti, temporary } = newcomer(t);
  const { status, out, err } = await tutti("up", "--tour-only", "--port", "0");
  assert.equal(status, 0, out + err);
  assert.equal(err, "");

  await t.test("what is played is called a rehearsal, and who answers is said", () => {
    assert.match(out, /This is a rehearsal: a script plays the models/);
    assert.match(out, /\? Should this check run/);
    assert.match(out, /\? A discount can leave half a cent[^]*the tour answers: down/);
    assert.match(out, /fix +✗ `node --test test\/total.test.js`: 1 passed, 1 failed\n[^]*fix +tries again/);
    assert.match(out, /fix +✓ `node --test test\/total.test.js`: 2 passed, 0 failed\n/);
    assert.match(out, /^Done: /m);
  });

  const [, goal = ""] = /tutti report (gol_\w+)/.exec(out) ?? [];
  const report = GoalReport.parse(JSON.parse((await tutti("report", goal, "--json")).out));

  await t.test("every task and every criterion is proven by a check that Tutti ran", () => {
    assert.equal(report.status, "done");
    assert.ok(report.rehearsal);
    assert.deepEqual(
      report.tasks.map(({ id, state, attempts }) => ({ id, state, attempts })),
      [
        { id: "fix", state: "verified", attempts: 2 },
        { id: "discount", state: "verified", attempts: 1 },
        { id: "readme", state: "verified", attempts: 1 },
      ],
    );
    for (const { proof } of [...report.tasks, ...report.criteria]) {
      assert.ok(proof.some(({ kind, verdict }) => kind === "check" && verdict === "supports"));
    }
  });

  await t.test("the work is on a branch of a real repository, and the checkout is as it was", () => {
    const [name = ""] = readdirSync(temporary).filter((each) => each.startsWith("tutti-tour-"));
    const { git } = repositoryAt(join(temporary, name));
    const branch = report.integration?.branch ?? "";
    assert.match(git("show", `${branch}:lib/total.js`), /price \* quantity/);
    assert.match(git("show", `${branch}:lib/discount.js`), /Math\.floor/);
    assert.match(git("show", `${branch}:README.md`), /npm test/);
    assert.equal(git("status", "--porcelain"), "");
    assert.doesNotMatch(git("show", "main:lib/total.js"), /quantity/);
  });

  await t.test("the record names the tour as the one who answered", async () => {
    const { out: logs } = await tutti("logs", report.task, "--json");
    const answered = jsonLines(logs).map((line) => TaskEvent.parse(line));
    const names = answered.flatMap((event) => (event.type === "ask.answered" ? [event.data.by.name] : []));
    assert.ok(names.length >= 4);
    assert.deepEqual(new Set(names), new Set(["the tour"]));
  });

  await t.test("the record says which check ran when, on what, and which of how many it was", async () => {
    const { out: logs } = await tutti("logs", report.task, "--json");
    const events = jsonLines(logs).map((line) => TaskEvent.parse(line));
    const started = events.flatMap((event) => (event.type === "check.started" ? [event] : []));
    const ofFix = started.filter(({ task }) => task === report.tasks[0]?.task).map(({ data }) => data);
    assert.deepEqual(
      ofFix.slice(0, 2).map(({ number, of, on, argv }) => [number, of, on, argv.join(" ")]),
      [
        [1, 2, "work", "node --test test/total.test.js"],
        [1, 2, "work", "node --test test/total.test.js"],
      ],
    );
    assert.ok(
      started.some(({ task, data }) => task === report.task && data.of === 4),
      "on the merged work, too",
    );
    const twice = started.filter(({ data }) => data.on === "base" && data.argv.join(" ") === "node --test");
    assert.ok(
      twice.filter(({ data }) => data.again).length <= 1,
      "the base is run once for all tasks that begin with it",
    );
  });

  await t.test("the commands that the tour prints work after it", async () => {
    const commands = [...out.matchAll(/^  tutti ((?:report|diff|logs) \S+)$/gm)].map(([, words = ""]) => words);
    assert.equal(commands.length, 3);
    for (const words of commands) assert.equal((await tutti(...words.split(" "))).status, 0, words);
  });

  await t.test("the next tour plays again in a repository of its own and removes this one", async () => {
    const before = readdirSync(temporary);
    const again = await tutti("up", "--tour-only", "--port", "0");
    assert.equal(again.status, 0, again.out + again.err);
    const after = readdirSync(temporary).filter((each) => each.startsWith("tutti-tour-"));
    assert.equal(after.length, 1);
    assert.ok(!before.includes(after[0] ?? ""));
  });
});

test("without bubblewrap the checks of the tour run unconfined after an approval, which the tour gives visibly", async (t) => {
  const { tutti } = newcomer(t, ["git", "grep"]);
  const { status, out, err } = await tutti("up", "--tour-only", "--port", "0");
  assert.equal(status, 0, out + err);
  assert.match(out, /\? Should this check run.*Nothing confines programs on this machine/);
  assert.match(out, /the tour answers: yes/);
  assert.match(out, /goal +✓ `node --test`: 3 passed, 0 failed, on the work of all tasks together/);
});
