// What the commands that end or hold work say before they do it, as real processes with a daemon.
import assert from "node:assert/strict";
import { test } from "node:test";

import { up, waiting } from "../../test/support/cli-daemon.ts";
import { bench } from "../../test/support/cli-process.ts";

test("stop, cancel and kill name the task, what is below it and what becomes of the work, before they end it", async (t) => {
  const b = bench(t);
  up(b);
  const said = {
    stop: /^stopping tsk_\w+ \(\w+\) and 1 task below it: what it did is kept, and it can go on later$/m,
    cancel: /^canceling tsk_\w+ \(\w+\) and 1 task below it: for good; workspaces stay$/m,
    kill: /^killing tsk_\w+ \(\w+\) and 1 task below it: at once and for good; workspaces are removed, and work that is not committed is saved first$/m,
  };
  for (const [verb, wanted] of Object.entries(said)) {
    const { task } = await waiting(b, "ask");
    const { status, err } = b.run(verb, task);
    assert.equal(status, 0, err);
    assert.match(err, wanted);
    assert.equal(err.match(/^\w+ing tsk_/gm)?.length, 1, err);
  }
});

test("for programs, and for a task that is over, they say nothing beforehand", async (t) => {
  const b = bench(t);
  up(b);
  for (const verb of ["stop", "cancel", "kill"]) {
    const { task } = await waiting(b, "ask");
    assert.doesNotMatch(b.run(verb, task, "--json").err, /tsk_/, verb);
    if (verb !== "stop") assert.doesNotMatch(b.run(verb, task).err, /ing tsk_/, verb);
  }
});

test("pause and down say how much work is unfinished", async (t) => {
  const b = bench(t);
  up(b);
  assert.match(b.run("pause").err, /^pausing with 0 unfinished tasks$/m);
  b.run("resume");
  await waiting(b, "ask");
  assert.match(b.run("pause").err, /^pausing with 2 unfinished tasks$/m);
  assert.match(b.run("down").err, /^stopping the daemon with 2 unfinished tasks$/m);
  assert.doesNotMatch(b.run("down").err, /unfinished/, "there is no daemon any more");
});
