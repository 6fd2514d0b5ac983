// Commands beside each other without a daemon: the first one does the work of all and hands over what is left when it ends.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { z } from "zod";

import { type Bench, bench } from "../support/cli-process.ts";

const example = (name: string): string => `examples/invocations/${name}.json`;
const Status = z.object({ running: z.boolean(), command: z.boolean().optional(), pid: z.int().optional() });

const statusOf = (b: Bench): z.infer<typeof Status> => Status.parse(JSON.parse(b.run("status", "--json").out));

test("a second run, answers and cancels go to the command that works on the folder", async (t) => {
  const b = bench(t);
  const first = b.start("invoke", "--wait", example("ask"));
  const [, ask = ""] = await first.said(/waiting for an answer to (ask_\w+); answer it with `tutti answer/);
  assert.deepEqual(statusOf(b), { running: true, command: true, pid: first.child.pid });

  const second = b.run("invoke", example("single"));
  assert.equal(second.status, 0, second.err);

  const third = b.start("invoke", "--wait", "--new", example("ask"));
  await third.said(/waiting for an answer to ask_\w+/);
  const [, task = ""] = await third.said(/(tsk_\w+) task\.created +invocation/);
  assert.equal(b.run("cancel", task).status, 0);
  assert.equal((await third.ended).status, 8);

  assert.equal(b.run("up", "--detach").status, 7, "a daemon can be started when the command is done");
  assert.equal(b.run("answer", ask, "red").status, 0);
  const [, approval = ""] = await first.said(/waiting for an answer to (ask_\w+_3);/);
  assert.equal(b.run("answer", approval, "y").status, 0);
  assert.equal((await first.ended).status, 0);
  assert.equal(statusOf(b).running, false, "nothing is left to do, so nobody stays");
});

test("what others gave to a command that ends is gone on with by a daemon, and they follow it there", async (t) => {
  const b = bench(t);
  const first = b.start("invoke", "--wait", example("ask"));
  const [, ask = ""] = await first.said(/waiting for an answer to (ask_\w+_1);/);
  const second = b.start("invoke", "--wait", "--new", example("ask"));
  await second.said(/waiting for an answer to ask_\w+_2;/);
  first.child.kill("SIGINT");
  const left = await first.ended;
  assert.equal(left.status, 130);
  assert.match(left.err, /the daemon at http:\S+ goes on with it, follow it with `tutti attach tsk_/);
  assert.deepEqual(statusOf(b).command, false);

  assert.equal(b.run("answer", ask.replace(/1$/, "2"), "blue").status, 0);
  const [, approval = ""] = await second.said(/waiting for an answer to (ask_\w+_3);/);
  assert.equal(b.run("answer", approval, "y").status, 0);
  assert.equal((await second.ended).status, 0);
});

test("of commands that start in the same moment, one does the work of all", async (t) => {
  const b = bench(t);
  const text = readFileSync(join(b.folder, example("single")), "utf8");
  const files = [1, 2, 3].map((number) => b.file(`${number}.json`, { ...JSON.parse(text), roots: [`out-${number}`] }));
  const started = files.map((file) => b.start("invoke", file));
  for (const { ended } of started) {
    const { status, err } = await ended;
    assert.equal(status, 0, err);
  }
});

test("`tutti down` stops a command that serves others, and its work goes on with the same command", async (t) => {
  const b = bench(t);
  const first = b.start("invoke", "--wait", example("ask"));
  await first.said(/waiting for an answer/);
  assert.equal(b.run("down").status, 0);
  const { status, err } = await first.ended;
  assert.equal(status, 130);
  assert.match(err, /what was under way is kept, run the same command again to go on\n$/);
});
