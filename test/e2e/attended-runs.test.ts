// Programs whose code a daemon's runs need: either side is killed, two processes of one program are there, and strangers try to take part.
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import { killChild } from "../support/kill-process.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { until } from "../support/wait-until.ts";
import { type DaemonProcess, daemonFor } from "./daemon-process.ts";

const patienceMs = 240_000;
const file = join(import.meta.dirname, "attending-program.ts");

type Scenario = "tool" | "repeatable" | "model" | "workflow";

interface Programs {
  start(): ProgramProcess;
  /** What the code of the program has noted, in order. */
  notes(): string[];
  noted(what: string, times?: number): Promise<unknown>;
  /** Lets the code go on that waits. */
  go(): void;
}

interface ProgramProcess {
  readonly child: ChildProcess;
  task(): Promise<string>;
  result(): Promise<string>;
}

function programsOf(t: TestContext, daemon: DaemonProcess, scenario: Scenario): Programs {
  const folder = tempFolder(t);
  const notes = (): string[] => {
    const at = join(folder, "notes");
    return existsSync(at) ? readFileSync(at, "utf8").trim().split("\n") : [];
  };
  return {
    notes,
    noted: (what, times = 1) =>
      until(() => notes().filter((each) => each === what).length >= times, `${what} noted`, patienceMs),
    go: () => writeFileSync(join(folder, "go"), ""),
    start() {
      const child = spawn(process.execPath, [file, daemon.url, daemon.key, scenario, folder], {
        stdio: ["ignore", "pipe", "pipe"],
      });
      t.after(() => killChild(child));
      let output = "";
      const hear = (chunk: Buffer): void => void (output += chunk.toString());
      child.stdout.on("data", hear);
      child.stderr.on("data", hear);
      const line = async (word: string): Promise<string> => {
        const found = await until(
          () => {
            const at = new RegExp(`^${word} (.*)$`, "m").exec(output)?.[1];
            if (at === undefined && child.exitCode !== null) throw new Error(`the program ended: ${output}`);
            return at;
          },
          `a line with ${word} in ${output}`,
          patienceMs,
        );
        return found;
      };
      return { child, task: () => line("task"), result: () => line("result") };
    },
  };
}

const unattended = (daemon: DaemonProcess, what: string): Promise<unknown> =>
  until(
    async () => (await daemon.client().waits()).some(({ label }) => label.includes(what)),
    `a wait for ${what}`,
    patienceMs,
  );

test("a daemon that is killed under a call asks the same process again, which has made the call once (1, 3)", async (t) => {
  const daemon = await daemonFor(t);
  const programs = programsOf(t, daemon, "tool");
  const first = programs.start();
  await programs.noted("charge Ann");
  await daemon.restartKilled();
  programs.go();
  assert.match(await first.result(), /charged Ann/);
  assert.deepEqual(programs.notes(), ["charge Ann"]);
});

test("a call whose process was killed is not made again: the model is told that nobody knows (1)", async (t) => {
  const daemon = await daemonFor(t);
  const programs = programsOf(t, daemon, "tool");
  const first = programs.start();
  await programs.noted("charge Ann");
  await killChild(first.child);
  programs.go();
  assert.match(await programs.start().result(), /outcome_unknown/);
  assert.deepEqual(programs.notes(), ["charge Ann"]);
});

test("a call that may be repeated waits for the next process, and everybody can see for what", async (t) => {
  const daemon = await daemonFor(t);
  const programs = programsOf(t, daemon, "repeatable");
  const first = programs.start();
  await programs.noted("charge Ann");
  await killChild(first.child);
  await unattended(daemon, "the tool charge; start the program again");
  programs.go();
  assert.match(await programs.start().result(), /charged Ann/);
  assert.deepEqual(programs.notes(), ["charge Ann", "charge Ann"]);
});

test("of two processes that attend one run, each call is made by one, and the other does not end it", async (t) => {
  const daemon = await daemonFor(t);
  const programs = programsOf(t, daemon, "tool");
  const first = programs.start();
  await programs.noted("charge Ann");
  const second = programs.start();
  assert.equal(await second.task(), await first.task());
  // It has begun to attend once it has followed the run so far.
  await until(async () => (await daemon.client().task(await second.task())).status === "running");
  programs.go();
  for (const each of [first, second]) assert.match(await each.result(), /charged Ann/);
  assert.deepEqual(programs.notes(), ["charge Ann"]);
});

test("a call of a model whose process was killed is made by the next one, and what it may have cost counts (1, 7)", async (t) => {
  const daemon = await daemonFor(t);
  const programs = programsOf(t, daemon, "model");
  const first = programs.start();
  await programs.noted("model");
  await killChild(first.child);
  await unattended(daemon, "the model mine/small");
  programs.go();
  const second = programs.start();
  assert.equal(await second.result(), "It is cold.");
  assert.deepEqual(programs.notes(), ["model", "model", "model"]);
  const { tree } = await daemon.client().budget(await second.task());
  assert.ok(tree.tokens.used > 1_000, `the call that was cut off is booked as it was reserved: ${tree.tokens.used}`);
});

test("a daemon that is killed under a call of a model gets the reply that the process was about to get", async (t) => {
  const daemon = await daemonFor(t);
  const programs = programsOf(t, daemon, "model");
  const first = programs.start();
  await programs.noted("model");
  await daemon.restartKilled();
  programs.go();
  assert.equal(await first.result(), "It is cold.");
  assert.deepEqual(programs.notes(), ["model", "model"]);
});

test("a workflow goes on in the next process: what was recorded is not done again (1, 3)", async (t) => {
  const daemon = await daemonFor(t);
  const programs = programsOf(t, daemon, "workflow");
  const first = programs.start();
  await programs.noted("second");
  await killChild(first.child);
  await unattended(daemon, "the workflow nightly");
  assert.equal(await programs.start().result(), "Monday outcome_unknown end");
  assert.deepEqual(programs.notes(), ["begin", "first", "second", "begin", "third"]);
});

test("a workflow begins again in the same process when the daemon was killed", async (t) => {
  const daemon = await daemonFor(t);
  const programs = programsOf(t, daemon, "workflow");
  const first = programs.start();
  await programs.noted("second");
  await daemon.restartKilled();
  assert.equal(await first.result(), "Monday outcome_unknown end");
  assert.deepEqual(programs.notes(), ["begin", "first", "second", "begin", "third"]);
});

test("nobody but the program's own key and the owner attends a run, and a stranger's report changes nothing (13, 14)", async (t) => {
  const daemon = await daemonFor(t);
  const owner = daemon.client();
  const { key: own } = await owner.addKey({ name: "program", role: "operator" });
  const { key: other } = await owner.addKey({ name: "other", role: "operator" });
  const { key: viewer } = await owner.addKey({ name: "viewer", role: "viewer" });
  const invocation = {
    invocation: {
      targets: [
        {
          agent: { type: "named", agent_id: "payer" },
          message: { role: "user", parts: [{ part_type: "text", data: "go" }] },
        },
      ],
    },
    agents: { payer: { instructions: "Pay." } },
    script: {
      rules: [
        { agent: "payer", turn: 0, call: [{ tool: "charge", args: {} }] },
        { agent: "payer", turn: 1, final: "{{last}}" },
      ],
    },
    external_tools: [
      { name: "charge", description: "x", attended: { effects: ["network"], repeatable: false, timeout_ms: 60_000 } },
    ],
  };
  const { task } = await daemon.client(own).invoke(JSON.stringify(invocation), {});
  const [id, stranger] = ["process-of-the-program", "process-of-somebody-else"];
  const has = { tools: ["charge"], models: [], workflows: [] };
  const attend = (key: string, who: string) => daemon.client(key).attend(task, { process: who, has, wait_ms: 5_000 });
  for (const key of [other, viewer]) await assert.rejects(attend(key, stranger), { code: "refused" });
  const { orders, life } = await until(async () => {
    const reply = await attend(own, id);
    return reply.orders.length > 0 && reply;
  });
  const order = orders[0]?.order;
  assert.ok(order?.kind === "tool" && order.name === "charge");
  const forged = [{ kind: "result", call: order.call, value: "forged" } as const];
  await assert.rejects(daemon.client(other).reportAttended(task, { process: id, notices: forged }), {
    code: "refused",
  });
  const late = await daemon.client(own).reportAttended(task, { process: stranger, notices: forged });
  assert.deepEqual(late, { late: [order.call], life });
  assert.deepEqual(
    (await daemon.client(own).attend(task, { process: id, has, life })).orders.length,
    1,
    "it was not acknowledged",
  );
  // What only the daemon can know cannot be told to it.
  const failure = { code: "busy", message: "no", retry: "safe", details: { reason: "unattended" } } as const;
  await daemon
    .client(own)
    .reportAttended(task, { process: id, notices: [{ kind: "failed", call: order.call, failure }] });
  const { content } = await daemon.client(own).result(task);
  assert.match(JSON.stringify(content), /busy/);
  assert.deepEqual((await attend(own, id)).over, true);
  const [wait] = await owner.waits();
  assert.equal(wait, undefined);
});
