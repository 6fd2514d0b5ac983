import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { ledgerIn, processesOf } from "../../../test/support/acp-kit.ts";
import { killChild } from "../../../test/support/kill-process.ts";
import { type Cleanup, tempFolder } from "../../../test/support/temp-folder.ts";
import { until } from "../../../test/support/wait-until.ts";
import { AgentResult } from "../../protocol/invocation/invocation-result.ts";
import { openView } from "../../store/sqlite/sqlite-view.ts";

const from = (path: string): string => JSON.stringify(new URL(path, import.meta.url).href);

/** A whole engine in a process of its own: starts or finds the task, and prints the result. */
const driver = `
  import { systemClock } from ${from("../../engine/clock.ts")};
  import { Engine } from ${from("../../engine/engine.ts")};
  import { takeLock } from ${from("../../store/sqlite/lock.ts")};
  import { openStore } from ${from("../../store/sqlite/sqlite-store.ts")};
  import { cleanUp } from ${from("../shared/process/clean-up.ts")};
  import { acpRunner } from ${from("./runner.ts")};
  import { scriptedProfiles } from ${from("../../../test/support/acp-kit.ts")};
  const [root, prompt, behaviour, then] = JSON.parse(process.argv[1]);
  const lock = takeLock(root + "/state");
  const store = openStore(root + "/state");
  const acp = acpRunner({
    profiles: scriptedProfiles(root + "/work", { behaviour }),
    approvals: [{ from: "user", rules: { execute: "free", network: "free", write: "ask" } }],
    sandbox: { confined: false, reason: "the test says so", advice: "none" },
    offLimits: [root + "/state"],
    homes: root + "/homes",
    times: { cancelMs: 200, graceMs: 200 },
  });
  const engine = new Engine({ store, clock: systemClock, runners: { acp }, cleanUp });
  await engine.recover();
  const runner = { kind: "acp", config: { profile: "scripted" } };
  const rights = { tools: "*", roots: [root + "/work"] };
  const { task } = await engine.start({ runner, agent: "coder", input: JSON.stringify(prompt), rights }, { key: "k" });
  if (then === "stop") {
    while (!(await import("node:fs")).existsSync(root + "/work/prompts")) await new Promise((resolve) => setTimeout(resolve, 5));
    await engine.stop();
    process.stdout.write("{}\\n");
  } else process.stdout.write(JSON.stringify(await engine.result(task)) + "\\n");
  await engine.stop();
  store.close();
  lock.release();
`;

interface Place {
  readonly root: string;
  readonly work: string;
  readonly prompt: readonly unknown[];
  readonly behaviour: Readonly<Record<string, unknown>>;
}

function place(t: Cleanup, prompt: readonly unknown[], behaviour: Place["behaviour"] = {}): Place {
  const root = realpathSync(tempFolder(t));
  const work = join(root, "work");
  for (const name of ["state", "work"]) mkdirSync(join(root, name));
  t.after(() => {
    for (const pid of processesOf(work)) process.kill(pid, "SIGKILL");
  });
  return { root, work, prompt, behaviour };
}

function start({ root, prompt, behaviour }: Place, then = "run"): ChildProcess {
  const args = ["--input-type=module", "-e", driver, JSON.stringify([root, prompt, behaviour, then])];
  return spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
}

async function firstLine(child: ChildProcess): Promise<unknown> {
  let text = "";
  for await (const chunk of child.stdout ?? []) {
    text += String(chunk);
    const end = text.indexOf("\n");
    if (end !== -1) return JSON.parse(text.slice(0, end));
  }
  throw new Error(`the engine said nothing whole: ${text}`);
}

async function restarted(at: Place): Promise<AgentResult> {
  const child = start(at);
  try {
    return AgentResult.parse(await firstLine(child));
  } finally {
    await killChild(child);
  }
}

/** The processes of agents alone: the driver names the folder in its arguments, too. */
const agentsIn = ({ work }: Place, driving?: ChildProcess): number[] =>
  processesOf(work).filter((pid) => pid !== driving?.pid);

async function types({ root }: Place): Promise<string[]> {
  const view = openView(join(root, "state"));
  try {
    return (await view.eventsAfter({ after: 0, limit: 10_000 })).rows.map((row) => row.type);
  } finally {
    view.close();
  }
}

/** How often the task's own prompt arrived. */
const delivered = ({ work, prompt }: Place): number =>
  ledgerIn(work, "prompts").filter((text) => text === JSON.stringify(prompt)).length;

const edit = { toolCallId: "c1", kind: "edit", content: [{ type: "diff", path: "a.txt", newText: "x" }] };

describe("a session and the end of the engine", { concurrency: 2 }, () => {
  test("invariants 1 and 3: killed, the session's processes end at the restart, and what it did is unknown", async (t) => {
    const at = place(t, [{ fork: true }, { say: "working" }, { hang: true }], { ignoresTerm: true });
    const child = start(at);
    await until(() => delivered(at) === 1 && agentsIn(at, child).length >= 2);
    await killChild(child);
    const result = await restarted(at);
    assert.equal(result.status, "failed");
    assert.match(JSON.stringify(result.content), /outcome_unknown.*cannot take it up again/);
    assert.deepEqual(agentsIn(at), []);
    assert.equal(delivered(at), 1);
  });

  test("an agent that can takes its session up again: the prompt is not sent twice, and replayed history is no output", async (t) => {
    const at = place(t, [{ say: "working" }, { hang: true }], { load: true });
    const child = start(at);
    await until(() => delivered(at) === 1);
    await sleep(100);
    await killChild(child);
    const result = await restarted(at);
    assert.deepEqual([result.status, result.content], ["completed", "went on"]);
    assert.deepEqual(ledgerIn(at.work, "loaded"), ["s-1"]);
    assert.equal(delivered(at), 1);
    assert.equal(ledgerIn(at.work, "prompts").length, 2);
    assert.deepEqual(agentsIn(at), []);
  });

  test("killed while a person is asked, the question is withdrawn and the session goes on", async (t) => {
    const at = place(t, [{ permit: edit }, { say: "not reached" }], { load: true });
    const child = start(at);
    await until(async () => delivered(at) === 1 && (await types(at)).includes("ask.raised"));
    await killChild(child);
    const result = await restarted(at);
    assert.equal(result.content, "went on");
    const told = await types(at);
    assert.equal(told.filter((type) => type === "ask.withdrawn").length, 1);
    assert.equal(told.filter((type) => type === "task.resumed").length, 1);
    assert.deepEqual(ledgerIn(at.work, "permissions"), []);
  });

  test("an engine that is stopped ends the session's processes and keeps its home for the next start", async (t) => {
    const at = place(t, [{ fork: true }, { hang: true }], { load: true });
    const child = start(at, "stop");
    assert.deepEqual(await firstLine(child), {});
    assert.deepEqual(agentsIn(at, child), []);
    await killChild(child);
    assert.equal(existsSync(join(at.root, "homes")), true);
    assert.equal((await restarted(at)).content, "went on");
  });

  test("invariants 1 and 3: killed at any instant, the prompt arrives at most once and nothing is left", async (t) => {
    for (const delay of [0, 60, 150, 300, 450]) {
      const at = place(t, [{ fork: true }, { say: "a" }, { sleep: 300 }, { say: "b" }], { load: delay % 100 === 50 });
      const child = start(at);
      for (let look = 0; look < 2_000 && !existsSync(join(at.root, "state", "tutti.db-wal")); look += 1) await sleep(1);
      await sleep(delay);
      await killChild(child);
      const result = await restarted(at);
      assert.ok(delivered(at) <= 1, `killed after ${delay} ms the prompt arrived ${delivered(at)} times`);
      const ends = ["ab", "went on"].includes(String(result.content)) || /outcome_unknown/.test(JSON.stringify(result));
      assert.ok(ends, JSON.stringify(result));
      assert.deepEqual(agentsIn(at), []);
    }
  });
});
