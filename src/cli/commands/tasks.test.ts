// The commands that read and prune a state folder, as real processes.
import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, test } from "node:test";

import { z } from "zod";

import { TaskEvent } from "../../protocol/task/event.ts";
import { isTerminal } from "../../protocol/task/task-status.ts";
import { ListedTask } from "../../protocol/api/task-shapes.ts";
import { TaskSummary } from "../../protocol/task/task-view.ts";
import { bench, type Bench, jsonLines } from "../../../test/support/cli-process.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { asOrdinaryUser, giveToOrdinaryUser } from "../../../test/support/ordinary-user.ts";

const example = (name: string): string => join("examples", "invocations", `${name}.json`);
const roots = (b: Bench): ListedTask[] => z.array(ListedTask).parse(JSON.parse(b.run("tasks", "--json").out));
const numberOf = (id: string): number => Number.parseInt(id.slice(id.lastIndexOf("_") + 1), 36);
const database = (b: Bench): string => join(b.state, "tutti.db");

/** Starts an invocation that waits for an answer nobody gives. */
async function waiting(b: Bench): Promise<ReturnType<Bench["start"]>> {
  const asking = b.start("invoke", "--wait", example("ask"));
  await asking.said(/ask\.raised/);
  return asking;
}

async function leftWaiting(b: Bench): Promise<void> {
  const asking = await waiting(b);
  asking.child.kill("SIGINT");
  await asking.ended;
}

describe("while another process works on the folder", () => {
  test("prune is refused with status 7 and the pid; commands that only read are not affected", async (t) => {
    const b = bench(t);
    const first = await waiting(b);
    const pruning = b.run("prune", "--older", "1d");
    assert.equal(pruning.status, 7, pruning.err);
    assert.match(
      pruning.err,
      new RegExp(`^tutti: a command, process ${first.child.pid}, works on .*; wait until it is done\\n$`),
    );
    const [root] = roots(b);
    const id = root?.id ?? "";
    for (const [args, says] of [
      [["tasks"], /^\? tsk_\w+ {2}asks you: Which colour .* \(ask_\w+\) {2}planner {2}.* (?:ago|just now) {2}.*\n$/],
      [
        ["show", id],
        /2 tasks, .* tokens, \$.*a rehearsal[^]*└─ \? planner tsk_\w+ waits for an answer [^]*open questions\n {2}\? question: Which/,
      ],
      [["logs", id], /ask\.raised +ask_\w+ question: Which colour/],
      [["export", id], /"record":"task"[^]*"record":"event"/],
    ] as const) {
      const looked = b.run(...args);
      assert.deepEqual([looked.status, looked.err], [0, ""], args[0]);
      assert.match(looked.out, says);
    }
    first.child.kill("SIGKILL");
    await first.ended;
    assert.equal(b.run("invoke", "--quiet", example("single")).status, 0, "a dead owner does not hold the folder");
  });

  test("logs -f prints events as they happen and ends with the tree", async (t) => {
    const b = bench(t);
    const slow = b.file("slow.json", {
      invocation: {
        targets: [
          {
            agent: { type: "named", agent_id: "a" },
            message: { role: "user", parts: [{ part_type: "text", data: "go" }] },
          },
        ],
        join: "detached",
      },
      agents: { a: { instructions: "a" } },
      script: { rules: [{ delay_ms: 1_500, say: "at last" }] },
    });
    const working = b.start("invoke", slow);
    const [, id = ""] = await working.said(/(tsk_\w+) task\.completed +started 1/);
    const following = b.start("logs", "-f", id);
    const { status, out } = await following.ended;
    assert.equal(status, 0);
    assert.match(out, /task\.created[^]*at last[^]*task\.completed +at last\n$/);
    assert.equal((await working.ended).status, 0);
    assert.equal(b.run("logs", id).out, out, "the followed events are the recorded ones");
  });
});

describe("export, show and logs", () => {
  test("export prints every task and event of the tree, complete and in order", (t) => {
    const b = bench(t);
    b.run("invoke", "--quiet", example("supervise"));
    const [root] = roots(b);
    const exported = b.run("export", root?.id ?? "").out;
    assert.equal(b.run("export", "--json", root?.id ?? "").out, exported);
    const records = jsonLines(exported).map((line) => z.looseObject({ record: z.enum(["task", "event"]) }).parse(line));
    const tasks = records.flatMap(({ record, ...rest }) => (record === "task" ? [TaskSummary.parse(rest)] : []));
    const events = records.flatMap(({ record, ...rest }) => (record === "event" ? [TaskEvent.parse(rest)] : []));
    assert.equal(tasks.length, 3);
    assert.deepEqual(
      events.map((event) => event.seq),
      events.map((event) => event.seq).toSorted((one, other) => one - other),
    );
    for (const { id } of tasks) {
      const ends = events.filter(
        (event) => event.task === id && /^task\.(completed|failed|canceled)$/.test(event.type),
      );
      assert.equal(ends.length, 1, `${id} ends once`);
    }
  });

  test("a missing task or folder gives status 4 and one line", (t) => {
    const b = bench(t);
    const nowhere = b.run("tasks");
    assert.deepEqual([nowhere.status, nowhere.out], [4, ""]);
    assert.match(nowhere.err, /^tutti: there is no state in .*; run `tutti invoke` first, or .*--state\n$/);
    b.run("invoke", "--quiet", example("single"));
    for (const command of ["show", "logs", "export"]) {
      const unknown = b.run(command, "tsk_0_1");
      assert.deepEqual([unknown.status, unknown.err], [4, "tutti: there is no task tsk_0_1\n"], command);
    }
  });
});

describe("prune", () => {
  test("removes finished trees, never an unfinished one, and ids are not used again", async (t) => {
    const b = bench(t);
    b.run("invoke", "--quiet", example("single"));
    await leftWaiting(b);
    b.run("invoke", "--quiet", example("handover"));
    const last = Math.max(...roots(b).map((view) => numberOf(view.id)));
    assert.equal(roots(b).length, 3);
    const kept = b.run("prune", "--older", "1d");
    assert.match(kept.out, /^removed 0 finished trees \(0 tasks\)/);
    writeFileSync(join(b.state, "insight.db"), "an index that still knows what is removed", { mode: 0o600 });
    const pruned = b.run("prune", "--json", "--older", "0s");
    assert.ok(!existsSync(join(b.state, "insight.db")), "what is gone is not found any more");
    const report = z
      .object({ trees: z.number(), tasks: z.number(), bytes_after: z.number() })
      .parse(JSON.parse(pruned.out));
    assert.deepEqual([report.trees, report.tasks, report.bytes_after], [2, 4, statSync(database(b)).size]);
    assert.deepEqual(
      roots(b).map((view) => isTerminal(view.status)),
      [false],
    );
    b.run("invoke", "--quiet", example("single"));
    assert.ok(numberOf(roots(b)[0]?.id ?? "") > last + 1, "the child of the last tree had an id too");
    assert.equal(b.run("prune", "--max-size", "1").status, 0);
    assert.deepEqual(
      roots(b).map((view) => view.status),
      ["running"],
    );
  });

  test("needs an age or a size, in a form it understands", (t) => {
    const b = bench(t);
    b.run("invoke", "--quiet", example("single"));
    for (const args of [["prune"], ["prune", "--older", "soon"], ["prune", "--max-size", "big"]]) {
      const { status, err } = b.run(...args);
      assert.equal(status, 2, args.join(" "));
      assert.match(err, /^tutti: .*\n$/);
    }
    assert.equal(roots(b).length, 1);
  });
});

describe("a folder that cannot be used gives one line and no stack trace", () => {
  const fails = (b: Bench, wanted: RegExp): void => {
    for (const args of [["invoke", example("single")], ["tasks"], ["prune", "--older", "1d"]]) {
      const { status, out, err } = b.run(...args);
      assert.deepEqual([status, out], [6, ""], `${args.join(" ")}: ${err}`);
      assert.match(err, /^tutti: [^\n]*\n$/);
      assert.match(err, wanted);
    }
  };

  test("with a file that is not a database", (t) => {
    const b = bench(t);
    mkdirSync(b.state);
    writeFileSync(database(b), "this was somebody's diary".repeat(1_000));
    fails(b, /is not a Tutti database; move it away, or choose another folder with --state/);
  });

  test("with a damaged database", (t) => {
    const b = bench(t);
    b.run("invoke", "--quiet", example("single"));
    const bytes = readFileSync(database(b));
    bytes.fill(0xff, 4_096);
    writeFileSync(database(b), bytes);
    fails(b, /is damaged; restore it from a copy, or move it away to start anew/);
  });

  test("written by a newer Tutti", (t) => {
    const b = bench(t);
    b.run("invoke", "--quiet", example("single"));
    const opened = new DatabaseSync(database(b));
    opened.exec("PRAGMA user_version = 999");
    opened.close();
    fails(b, /was written by a newer Tutti; update this one, or choose another folder with --state/);
  });

  test("that cannot be made", (t) => {
    const b = bench(t);
    writeFileSync(b.state, "a file where the folder should be");
    const { status, err } = b.run("invoke", example("single"));
    assert.equal(status, 6);
    assert.match(err, /^tutti: could not make the state folder [^\n]*; choose another with --state\n$/);
    assert.equal(b.run("tasks").status, 4);
  });

  test("that cannot be written to", (t) => {
    const b = bench(t);
    mkdirSync(b.state);
    chmodSync(b.state, 0o500);
    giveToOrdinaryUser(b.folder);
    const invoke = ["invoke", example("single"), "--state"];
    const { status, err } = asOrdinaryUser({
      folder: b.folder,
      args: [...invoke, b.state],
      loads: [...invoke, join(tempFolder(t), "state")],
    });
    assert.equal(status, 6, err);
    assert.match(err, /^tutti: [^\n]*--state[^\n]*\n$/);
  });
});
