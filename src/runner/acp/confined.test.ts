import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";

import { acpWorld, processesOf } from "../../../test/support/acp-kit.ts";
import { until } from "../../../test/support/wait-until.ts";
import { probeSandbox } from "../shared/sandbox/sandbox-status.ts";
import type { SettingsFile, TrustedSettings } from "./workspace-settings.ts";

const sandbox = await probeSandbox();
const skip = sandbox.confined ? false : sandbox.reason;

test("a confined session sees of the home folder nothing, and changes only its workspace", { skip }, async (t) => {
  const secret = mkdtempSync(join(realpathSync(homedir()), ".tutti-test-"));
  t.after(() => rmSync(secret, { recursive: true }));
  writeFileSync(join(secret, "key"), "hunter2");
  const world = await acpWorld(t, { runner: { sandbox, approvals: [] } });
  const state = join(dirname(world.work), "state");
  mkdirSync(join(world.work, ".git"));
  const name = await world.start([
    { see: join(secret, "key") },
    { see: `${state}/` },
    { see: join(world.work, "..", "homes") },
    { write: join(world.work, "inside.txt"), text: "inside" },
    { write: join(world.work, ".git", "config") },
    { write: join(secret, "key") },
    { write: "/etc/tutti-test" },
    { environment: true },
    { say: "done" },
  ]);
  assert.equal((await world.engine.result(name)).content, "done");
  const saw = world.ledger("saw").map((each) => (Array.isArray(each) ? each[1] : undefined));
  assert.deepEqual(saw.slice(0, 2), [null, []]);
  const wrote = world.ledger("wrote").map((each) => (Array.isArray(each) ? each[1] : undefined));
  assert.equal(wrote[0], "ok");
  assert.ok(
    wrote.slice(1).every((each) => each !== "ok"),
    JSON.stringify(wrote),
  );
  assert.equal(readFileSync(join(world.work, "inside.txt"), "utf8"), "inside");
  assert.equal(readFileSync(join(secret, "key"), "utf8"), "hunter2");
  const events = await world.events();
  const started = events.flatMap((event) => (event.type === "session.started" ? [event.data.confined] : []));
  assert.deepEqual(started, [true]);
  assert.ok(!events.some((event) => event.type === "ask.raised"), "nobody is asked about a confined start");
});

test("a confined session's program, its children and its terminals end with it", { skip }, async (t) => {
  const world = await acpWorld(t, { runner: { sandbox, approvals: [] } });
  const name = await world.start([
    { fork: true },
    {
      rpc: "terminal/create",
      params: {
        sessionId: "s-1",
        command: "/bin/sh",
        args: ["-c", `cat /proc/net/dev | wc -l; sleep 600; : ${world.work}`],
      },
    },
    { say: "working" },
    { hang: true },
  ]);
  await until(() => world.ledger("answers").length === 1);
  assert.match(JSON.stringify(world.ledger("answers")), /terminal-1/);
  assert.ok(processesOf(world.work).length >= 3);
  await world.engine.cancel(name, "enough");
  await until(() => processesOf(world.work).length === 0);
});

test("a change of a protected file by a confined session is refused without asking", { skip }, async (t) => {
  const world = await acpWorld(t, { runner: { sandbox, approvals: [] } });
  const path = join(world.work, ".git", "hooks", "post-checkout");
  const content = [{ type: "diff", path, oldText: null, newText: "#!/bin/sh\n" }];
  await world.run([{ permit: { toolCallId: "c1", kind: "edit", content } }]);
  assert.deepEqual(world.ledger("permissions"), [{ outcome: { outcome: "selected", optionId: "no" } }]);
});

test("a confined session does not see the repository's own settings for agents", { skip }, async (t) => {
  const world = await acpWorld(t, { runner: { sandbox, approvals: [] } });
  mkdirSync(join(world.work, ".claude"));
  writeFileSync(join(world.work, ".claude", "settings.json"), "hooks");
  writeFileSync(join(world.work, ".mcp.json"), "servers");
  await world.run([{ see: join(world.work, ".claude", "settings.json") }, { see: join(world.work, ".mcp.json") }]);
  assert.deepEqual(
    world.ledger("saw").map((each) => (Array.isArray(each) ? each[1] : undefined)),
    [null, "{}\n"],
  );
  assert.equal(readFileSync(join(world.work, ".claude", "settings.json"), "utf8"), "hooks");
});

test("unconfined, settings of the repository for the agent are used only after a person agreed to their content", async (t) => {
  const trusted = new Set<string>();
  const keyOf = (project: string, { path, hash }: SettingsFile): string => `${project} ${path} ${hash}`;
  const trustedSettings: TrustedSettings = {
    covers: (project, files) => files.every((file) => trusted.has(keyOf(project, file))),
    record: async (project, files) => files.forEach((file) => trusted.add(keyOf(project, file))),
  };
  const rules = { execute: "free", network: "free" } as const;
  const world = await acpWorld(t, {
    profile: { settings: [".agent/settings.json", "missing.json"] },
    runner: { trustedSettings, approvals: [{ from: "user", rules }] },
  });
  const run = async (approved: boolean | undefined): Promise<string> => {
    const name = await world.start([{ say: "ran" }]);
    if (approved !== undefined) {
      const ask = await until(
        async () =>
          (await world.events()).flatMap((event) =>
            event.type === "ask.raised" && event.task === name ? [event.data.ask] : [],
          )[0],
      );
      assert.match(ask.question, /"hooks": "rm -rf"/);
      await world.engine.deliver(ask.id, { kind: "approval", approved }, { kind: "person", name: "Ada" });
    }
    return JSON.stringify((await world.engine.result(name)).content);
  };
  assert.equal(await run(undefined), '"ran"');
  mkdirSync(join(world.work, ".agent"));
  writeFileSync(join(world.work, ".agent", "settings.json"), '{ "hooks": "rm -rf" }');
  assert.match(await run(false), /was not started/);
  assert.equal(await run(true), '"ran"');
  assert.equal(await run(undefined), '"ran"', "nobody is asked about the same content again");
  writeFileSync(join(world.work, ".agent", "settings.json"), '{ "hooks": "rm -rf", "more": 1 }');
  assert.match(await run(false), /was not started/);
});
