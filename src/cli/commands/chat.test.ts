// A conversation with the manager on the command line, as real processes.
import assert from "node:assert/strict";
import { test } from "node:test";

import { bench } from "../../../test/support/cli-process.ts";
import { until } from "../../../test/support/wait-until.ts";
import { up, waiting } from "../../../test/support/cli-daemon.ts";

const use = (verb: string, args: object = {}) => ({ raw: JSON.stringify({ action: verb, args }) });
const final = (message: string) => ({ raw: JSON.stringify({ action: "final", message }) });

test("one message gives one answer, for people and for programs, and the conversation goes on", (t) => {
  const b = bench(t);
  up(b);
  b.file("talk.json", { rules: [{ turn: 0, ...use("tasks.list") }, final("no task runs \u001b[31mred")] });
  const first = b.run("chat", "what", "runs?", "--script", "talk.json");
  assert.equal(first.status, 0, first.err);
  assert.match(first.out, /^no task runs .*red\n$/);
  assert.ok(!first.out.includes("\u001b"), "nothing that a terminal would obey is written");
  assert.match(first.err, /tasks\.list \{\}/);
  const [, conversation = ""] = /chat --conversation (\S+)/.exec(first.err) ?? [];
  const next = JSON.parse(b.run("chat", "-c", "and now?", "--json").out);
  assert.deepEqual([next.conversation, next.calls, next.failed], [conversation, 1, false]);
  const empty = b.run("chat");
  assert.equal(empty.status, 2, empty.err);
});

test("without a terminal an approval stays open with exit status 9, and the turn goes on once it is answered", async (t) => {
  const b = bench(t);
  up(b);
  const { task } = await waiting(b, "ask");
  b.file("talk.json", { rules: [{ turn: 0, ...use("tasks.cancel", { task }) }, final("it goes on")] });
  const asked = b.run("chat", `cancel ${task}`, "--script", "talk.json");
  assert.equal(asked.status, 9, asked.err);
  assert.match(asked.err, /May the manager do this\? tasks\.cancel/);
  assert.equal(b.run("answer", "last", "n").status, 0);
  const next = b.run("chat", "-c", "and?", "--json");
  assert.equal(JSON.parse(next.out).reply, "it goes on");
});

test("a daemon that is killed in the middle of a turn goes on with it, and no verb is carried out twice", async (t) => {
  const b = bench(t);
  const { pid } = up(b);
  const { task } = await waiting(b, "ask");
  const rules = [
    { turn: 0, ...use("sessions.send", { task, text: "no hurry" }) },
    { turn: 1, ...final("told it"), delay_ms: 3_000 },
  ];
  b.file("talk.json", { rules });
  const talking = b.start("chat", "tell it", "--script", "talk.json");
  await talking.said(/sessions\.send/);
  process.kill(pid, "SIGKILL");
  up(b);
  assert.equal((await talking.ended).out, "told it\n");
  assert.equal(JSON.parse(b.run("chat", "-c", "hello", "--json").out).failed, false);
  assert.equal(b.run("transcript", "last").out.split("→ sessions.send").length, 2);
  b.run("answer", "last", "red");
  const read = await until(() => {
    const { out } = b.run("logs", task, "--json");
    return out.includes("no hurry") && out;
  });
  assert.equal(read.split("no hurry").length, 2);
});

test("on a terminal the person types, sees the answer as it is written, and is asked inline", async (t) => {
  const b = bench(t);
  up(b);
  const { task } = await waiting(b, "ask");
  b.file("talk.json", { rules: [{ turn: 0, ...use("tasks.cancel", { task }) }, final("canceled it")] });
  const talk = b.onTerminal("chat", "--script", "talk.json");
  await talk.said(/Ctrl-D leaves/);
  talk.child.stdin?.write(`cancel ${task}\n`);
  await talk.said(/May the manager do this\? tasks\.cancel/);
  talk.child.stdin?.write("y\n");
  await talk.said(/canceled it[^>]*> /);
  talk.child.stdin?.write("\u0004");
  const { out, status } = await talk.ended;
  assert.equal(status, 0, out);
  assert.equal(out.split("canceled it").length, 2, out);
  assert.match(b.run("show", task).out, /canceled/);
});
