// From a goal to its report through the command line: with a coding agent, over kills of the daemon, and when tasks go wrong.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { localHost } from "../../src/daemon/local-host.ts";
import { readDaemonFile } from "../../src/daemon/lifecycle/daemon-file.ts";
import type { TaskEvent } from "../../src/protocol/task/event.ts";
import { skipUnconfined as skip } from "../support/check-kit.ts";
import { agentScene, delegating, editing, goalScene, type GoalScene, writing } from "../support/goal-scene.ts";
import { until } from "../support/wait-until.ts";

async function eventsOf({ state }: GoalScene): Promise<readonly TaskEvent[]> {
  const reader = localHost.openReader(state);
  try {
    return await reader.events({ after: 0, limit: 10_000 });
  } finally {
    await reader.close();
  }
}

async function seen(scene: GoalScene, wanted: (event: TaskEvent) => boolean): Promise<void> {
  await until(async () => (await eventsOf(scene)).some(wanted));
}

/** `kill -9` of the daemon, and another one in its place. */
function restartKilled(scene: GoalScene): void {
  const pid = readDaemonFile(scene.state)?.pid;
  assert.ok(pid !== undefined, "no daemon runs");
  process.kill(pid, "SIGKILL");
  const up = scene.run("up", "--detach");
  assert.equal(up.status, 0, up.err);
}

test("killed in every phase, a goal goes on where it was, and nothing is done twice", { skip }, async (t) => {
  const [write] = writing("Write hello.txt", "hello.txt", "hello\n");
  const scene = goalScene(t, {
    rules: [
      { ...delegating([{ id: "greet", prompt: "Write hello.txt." }]), delay_ms: 1_500 },
      { ...write, delay_ms: 1_500 },
      { agent: "worker", final: "hello.txt is there" },
    ],
  });
  const started = scene.run(
    ...scene.goal(
      "Say hello",
      "--check",
      "sh -c 'sleep 1; test -e hello.txt'",
      "--accept",
      "it is friendly",
      "--detach",
    ),
  );
  assert.equal(started.status, 0, started.err);
  // DECOMPOSE: the manager's model has not answered yet.
  await seen(scene, ({ type }) => type === "goal.created");
  restartKilled(scene);
  // LAUNCH and OBSERVE: the session is at work.
  await seen(scene, ({ type }) => type === "route.decided");
  restartKilled(scene);
  // VERIFY: the check of the task runs.
  await seen(scene, ({ type, data }) => type === "handoff.moved" && data.to === "verifying");
  restartKilled(scene);
  // VERIFY: the check of the whole runs.
  await seen(scene, ({ type, data }) => type === "goal.link_changed" && data.state === "verified");
  restartKilled(scene);
  // A person is asked.
  await seen(scene, ({ type }) => type === "ask.raised");
  restartKilled(scene);
  assert.equal(scene.run("answer", "last", "accept as met").status, 0);
  const end = scene.run("attach", "last");
  assert.equal(end.status, 0, end.err);
  const events = await eventsOf(scene);
  const count = (type: TaskEvent["type"]): number => events.filter((event) => event.type === type).length;
  assert.deepEqual(
    [count("goal.created"), count("goal.planned"), count("goal.linked"), count("session.saved"), count("ask.raised")],
    [1, 1, 1, 1, 1],
  );
  const { tasks, criteria } = scene.report();
  assert.deepEqual([tasks[0]?.commits, criteria[0]?.state], [1, "met"]);
});

test(
  "a command that follows a goal says at once that the daemon was killed, starts it again and goes on",
  { skip },
  async (t) => {
    const [write] = writing("Write hello.txt", "hello.txt", "hello\n");
    const scene = goalScene(t, {
      rules: [
        { ...delegating([{ id: "greet", prompt: "Write hello.txt." }]), delay_ms: 3_000 },
        write ?? {},
        { agent: "worker", final: "hello.txt is there" },
      ],
    });
    const following = scene.start(...scene.goal("Say hello", "--check", "test -e hello.txt"));
    // Its first line: the goal was created, and the manager's model has not answered yet.
    await following.said(/: Say hello\n/);
    const pid = readDaemonFile(scene.state)?.pid;
    assert.ok(pid !== undefined, "no daemon runs");
    process.kill(pid, "SIGKILL");
    await following.said(/the daemon ended without being stopped; it is started again/);
    await following.said(/the daemon at http:\S+ goes on with it/);
    const { status, out, err } = await following.ended;
    assert.equal(status, 0, `${out}${err}`);
    assert.match(out, /^Done: Say hello/);
    assert.equal(err.match(/: Say hello$/gm)?.length, 1, "nothing is told twice");
  },
);

test("what a killed daemon left is unfinished, and nothing of it is running", { skip }, async (t) => {
  const scene = goalScene(t, { rules: [{ ...delegating([{ id: "greet" }]), delay_ms: 60_000 }] });
  assert.equal(scene.run(...scene.goal("Say hello", "--detach")).status, 0);
  await seen(scene, ({ type }) => type === "goal.created");
  const pid = readDaemonFile(scene.state)?.pid;
  assert.ok(pid !== undefined, "no daemon runs");
  process.kill(pid, "SIGKILL");
  await until(() => /not running/.test(scene.run("status").out));
  const { out } = scene.run("status");
  assert.match(out, /work +1 unfinished\n/);
  assert.doesNotMatch(out, /\d running/);
});

test("a coding agent does the tasks, and its work is a checked branch", { skip }, (t) => {
  const scene = agentScene(t, [
    { id: "greet", does: [...editing("hello.txt", "hello\n"), { say: "hello.txt is there" }] },
  ]);
  const { status, out, err } = scene.run(
    ...scene.goal("Say hello", "--runner", "acp:scripted", "--check", "test -e hello.txt", "--yes"),
  );
  assert.equal(status, 0, `${out}\n${err}`);
  assert.match(out, /acp:scripted, chosen by a person/);
  const { integration } = scene.report();
  assert.equal(scene.repository.git("show", `${integration?.branch ?? ""}:hello.txt`), "hello");
  assert.equal(scene.repository.git("status", "--porcelain"), "", "the person's checkout is untouched");
  assert.equal(readFileSync(join(scene.repository.folder, "a.txt"), "utf8"), "a\n");
});

test("a session that hangs is stopped at the time limit, by a person who is asked", { skip }, (t) => {
  const scene = agentScene(t, [{ id: "hang", does: [{ hang: true }] }]);
  const asked = scene.run(...scene.goal("Never end", "--runner", "acp:scripted", "--budget", "time=3s"));
  assert.equal(asked.status, 9, asked.err);
  assert.match(asked.err, /limit/);
  assert.equal(scene.run("answer", "last", "n").status, 0);
  const ended = scene.run("attach", "last");
  assert.notEqual(ended.status, 0, ended.out);
  assert.notEqual(scene.report().status, "done");
});

test("work that conflicts is never called done: a person is told which tasks and files conflict", { skip }, (t) => {
  const change = (text: string): object[] => [...editing("a.txt", text), { say: "changed" }];
  const scene = agentScene(t, [
    { id: "one", does: change("new one\n") },
    { id: "two", does: change("new two\n") },
  ]);
  const { status, out, err } = scene.run(
    ...scene.goal("Change it", "--runner", "acp:scripted", "--check", "grep -q new a.txt", "--rounds", "1"),
  );
  assert.match(err, /one verified[^]*two verified|two verified[^]*one verified/);
  assert.equal(status, 9, `${out}${err}`);
  assert.match(err, /the work of one and two conflicts in a\.txt/);
  assert.equal(scene.run("answer", "last", "stop").status, 0);
  const ended = scene.run("attach", "last");
  assert.equal(ended.status, 8, ended.out);
  assert.equal(scene.report().integration, null);
});

test("a task that spends more than it may is held back until a person agrees", { skip }, (t) => {
  const scene = goalScene(t, {
    rules: [
      delegating([{ id: "greet", prompt: "Write hello.txt." }]),
      { ...writing("Write hello.txt", "hello.txt", "hello\n")[0], spend: { input: 0, output: 90_000 } },
      { agent: "worker", final: "done" },
    ],
  });
  const asked = scene.run(
    ...scene.goal("Say hello", "--check", "test -e hello.txt", "--budget", "tokens=50000", "--yes"),
  );
  assert.equal(asked.status, 9, asked.err);
  assert.match(asked.err, /tokens/);
  assert.equal(scene.run("answer", "last", "y").status, 0);
  const done = scene.run("attach", "last");
  assert.equal(done.status, 0, done.err);
  assert.ok(scene.report().tokens >= 90_000);
});
