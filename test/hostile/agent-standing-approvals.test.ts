// What a person allowed for good frees no call that merely looks like it.
import assert from "node:assert/strict";
import { chmodSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import { builtinTools } from "../../src/agent/agent-environment.ts";
import { runTool } from "../../src/agent/tools/run.ts";
import { keptApprovals } from "../../src/daemon/project/kept-approvals.ts";
import type { ApprovalRules } from "../../src/protocol/invocation/approval-policy.ts";
import type { AllowedCalls } from "../../src/protocol/invocation/standing-approval.ts";
import { sandboxCommands } from "../../src/runner/shared/sandbox/sandbox-commands.ts";
import { probeSandbox, type SandboxStatus } from "../../src/runner/shared/sandbox/sandbox-status.ts";
import { world } from "../support/agent-kit.ts";
import { led, leadOf } from "../support/lead-and-worker.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { until } from "../support/wait-until.ts";

const unconfined: SandboxStatus = { confined: false, reason: "", advice: "" };

interface Setting {
  readonly status: SandboxStatus;
  readonly rules?: ApprovalRules;
  readonly allowed: readonly AllowedCalls[];
}

/** Whether a person is asked about the call, or a standing approval allows it. */
async function outcomeOf(t: TestContext, { status, rules = {}, allowed }: Setting, call: object): Promise<string> {
  const [state, root] = [tempFolder(t), join(tempFolder(t), "work")];
  mkdirSync(join(root, ".git"), { recursive: true });
  writeFileSync(join(root, "tool"), "#!/bin/sh\necho hello\n");
  chmodSync(join(root, "tool"), 0o755);
  const kept = keptApprovals(state);
  for (const calls of allowed) await kept.add({ project: root, calls, by: "me" });
  const w = await world(t, {
    environment: {
      tools: [...builtinTools, runTool(sandboxCommands(status, { aside: join(state, "aside") }))],
      approvals: [{ from: "user", rules: { execute: "ask", write: "ask", ...rules } }],
      standing: { find: (wanted) => kept.find(root, wanted) },
    },
  });
  const task = await w.start({ ...led({ call: [call] }), roots: [root] });
  const over = w.engine.result(task).then(() => true);
  const asked = until(() => w.waits(task)[0]).then(() => false);
  asked.catch(() => undefined);
  if (!(await Promise.race([over, asked]))) return "asked";
  return w.events(leadOf(w, task)).some(({ type }) => type === "call.allowed") ? "allowed" : "neither";
}

const command = (...argv: [string, ...string[]]): AllowedCalls => ({
  tool: "run",
  argv,
  unconfined: false,
  network: false,
});
const run = (args: object): object => ({ tool: "run", args });

test("a confined command is allowed, and nothing that only resembles it", async (t) => {
  const status = await probeSandbox();
  assert.ok(status.confined, "this machine has bubblewrap");
  const allowed = [command("echo", "*"), command("cat"), { tool: "write", unconfined: false, network: false }];
  const setting = { status, allowed };
  assert.equal(await outcomeOf(t, setting, run({ argv: ["echo", "a", "b"] })), "allowed");
  for (const args of [
    { argv: ["echo", "-e", "a"] },
    { argv: ["echo"] },
    { argv: ["echo a"] },
    { shell: "echo a" },
    { argv: ["/bin/sh", "-c", "echo a"] },
    { argv: ["cat"], stdin: "text" },
    { argv: ["echo", "a"], network: true },
    { argv: ["echo", "a"], protected: true },
  ]) {
    assert.equal(await outcomeOf(t, setting, run(args)), "asked", JSON.stringify(args));
  }
  const write = (path: string): object => ({ tool: "write", args: { path, content: "x" } });
  assert.equal(await outcomeOf(t, setting, write("a.txt")), "allowed");
  assert.equal(await outcomeOf(t, setting, write(".git/config")), "asked", "a protected file");
  const refusing = { ...setting, rules: { execute: "refuse" } as const };
  assert.equal(await outcomeOf(t, refusing, run({ argv: ["echo", "a"] })), "neither", "what is refused stays refused");
});

test("unconfined, only the very program that was allowed runs, and no code that a model could have written", async (t) => {
  const free = (program: string, ...argv: [string, ...string[]]): AllowedCalls => ({
    tool: "run",
    argv,
    unconfined: true,
    network: true,
    program,
  });
  const cases: readonly [AllowedCalls, object, string][] = [
    [free("/usr/bin/echo", "echo", "*"), { argv: ["echo", "a"] }, "allowed"],
    [free("/usr/bin/printf", "echo", "*"), { argv: ["echo", "a"] }, "asked"],
    [command("echo", "*"), { argv: ["echo", "a"] }, "asked"],
    [free("/bin/sh", "./tool"), { argv: ["./tool"] }, "asked"],
    [free("/usr/bin/bash", "bash", "tool"), { argv: ["bash", "tool"] }, "asked"],
    [free("/usr/bin/env", "env", "*"), { argv: ["env", "./tool"] }, "asked"],
  ];
  for (const [allowed, args, wanted] of cases) {
    assert.equal(
      await outcomeOf(t, { status: unconfined, allowed: [allowed] }, run(args)),
      wanted,
      JSON.stringify(args),
    );
  }
});

test("standing approvals are in a file that only its owner can read, belong to one project, and can be revoked", async (t) => {
  const [state, one, other] = [tempFolder(t), tempFolder(t), tempFolder(t)];
  const kept = keptApprovals(state);
  const { id } = await kept.add({ project: one, calls: command("npm", "test"), by: "me" });
  const again = await kept.add({ project: one, calls: command("npm", "test"), by: "me" });
  assert.equal(again.id, id, "the same is kept once");
  assert.equal(statSync(join(state, "approvals.json")).mode & 0o777, 0o600);
  assert.equal(keptApprovals(state).find(one, command("npm", "test"))?.id, id);
  assert.equal(kept.find(other, command("npm", "test")), undefined);
  await kept.revoke(id);
  assert.equal(kept.find(one, command("npm", "test")), undefined);
  await assert.rejects(kept.revoke(id), /there is no standing approval/);
  writeFileSync(join(state, "approvals.json"), "{");
  assert.equal(kept.find(one, command("npm", "test")), undefined, "a damaged file allows nothing");
});
