import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test, type TestContext } from "node:test";

import { z } from "zod";

import { tempFolder } from "../../test/support/temp-folder.ts";
import { until } from "../../test/support/wait-until.ts";
import type { TuttiError } from "../protocol/error.ts";
import type { StdioServer } from "../protocol/invocation/mcp-servers.ts";
import { probeSandbox, type SandboxStatus } from "../runner/shared/sandbox/sandbox-status.ts";
import type { CallContext, Elicitation } from "./mcp-connection.ts";
import { resultOf } from "./mcp-result.ts";
import { endLeftServers, noteProcess } from "./process-ledger.ts";
import { openServerPool, type ServerPool } from "./server-pool.ts";
import { startHeld } from "../runner/shared/process/held-process.ts";
import type { Program } from "../runner/shared/process/launcher.ts";

const support = join(import.meta.dirname, "..", "..", "test", "support");
const unconfined: SandboxStatus = { confined: false, reason: "a test", advice: "" };
const Environment = z.object({ env: z.record(z.string(), z.string()), cwd: z.string(), pid: z.number() });

let sandbox: SandboxStatus;
before(async () => {
  sandbox = await probeSandbox();
  process.env["MCP_TEST_SECRET"] = "hunter2";
});
after(() => delete process.env["MCP_TEST_SECRET"]);

interface Scene {
  readonly state: string;
  readonly root: string;
  readonly pool: ServerPool;
  readonly call: (tool: string, input?: Record<string, unknown>, more?: Partial<CallIn>) => Promise<unknown>;
}

interface CallIn extends CallContext {
  readonly tree: string;
}

function scene(t: TestContext, how: string, options: Partial<StdioServer> & { confined?: boolean } = {}): Scene {
  const { confined = false, ...more } = options;
  const folder = tempFolder(t);
  const [state, root] = [join(folder, "state"), join(folder, "work")];
  mkdirSync(root, { recursive: true });
  const pool = openServerPool({ state, sandbox: confined ? sandbox : unconfined, toolchains: [support] });
  t.after(() => pool.close());
  const entry: StdioServer = {
    type: "stdio",
    command: process.execPath,
    args: [join(support, "mcp-test-server.js"), how],
    env: {},
    network: false,
    write: false,
    timeout_ms: 240_000,
    ...more,
  };
  const wanted = { name: "test", hash: `hash of ${how}`.padEnd(40, "0"), entry, roots: [root] };
  return {
    state,
    root,
    pool,
    call(tool, input = {}, given = {}) {
      const context: CallContext = {
        signal: new AbortController().signal,
        timeoutMs: entry.timeout_ms,
        progress: () => undefined,
        elicit: async () => ({ action: "decline" }),
        ...given,
      };
      return pool.use({ ...wanted, tree: given.tree }, context.signal, async (connection) =>
        resultOf("test", await connection.callTool(tool, input, context)),
      );
    },
  };
}

const isGone = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return false;
  } catch {
    return true;
  }
};

describe("an MCP server", () => {
  test("is started once, gets no variables of ours, and is given up and started anew when it dies or hangs", async (t) => {
    const { call } = scene(t, "good");
    assert.equal(await call("weather", { city: "Oslo" }), "sunny in Oslo");
    const first = Environment.parse(JSON.parse(String(await call("environment"))));
    const second = Environment.parse(JSON.parse(String(await call("environment"))));
    assert.equal(first.pid, second.pid);
    assert.equal(JSON.stringify(first.env).includes("hunter2"), false);
    await assert.rejects(call("fail"), /says: it cannot be done/);
    await assert.rejects(call("die"), /failed: Connection closed/);
    const third = Environment.parse(JSON.parse(String(await call("environment"))));
    assert.notEqual(third.pid, first.pid);
    await assert.rejects(call("hang", {}, { timeoutMs: 200 }), { code: "deadline" });
    assert.equal(await call("weather", { city: "Rome" }), "sunny in Rome");
    const after = Environment.parse(JSON.parse(String(await call("environment"))));
    assert.equal(after.pid, third.pid, "a server that still answers is only slow");
    const canceled = new AbortController();
    const hanging = call("hang", {}, { signal: canceled.signal });
    setTimeout(() => canceled.abort(new Error("enough")), 100);
    await assert.rejects(hanging, /enough/);
  });

  test("is ended with everything that it started, and forgotten on disk", async (t) => {
    const { call, pool, state } = scene(t, "good");
    const child = Number(await call("child"));
    assert.equal(isGone(child), false);
    assert.equal(readdirSync(join(state, "mcp-processes")).length, 1);
    pool.close();
    await until(() => isGone(child) && readdirSync(join(state, "mcp-processes")).length === 0);
  });

  test("is ended with the last tree that used it, and a call that is still under way is waited for", async (t) => {
    const { call, pool, state } = scene(t, "good");
    const pidFor = async (tree: string): Promise<number> =>
      Environment.parse(JSON.parse(String(await call("environment", {}, { tree })))).pid;
    const first = await pidFor("a");
    assert.equal(await pidFor("b"), first);
    pool.release("a");
    assert.equal(await pidFor("b"), first);
    const slow = call("hang", {}, { tree: "b", timeoutMs: 300 });
    pool.release("b");
    pool.release("b");
    await assert.rejects(slow, { code: "deadline" });
    await until(() => isGone(first) && readdirSync(join(state, "mcp-processes")).length === 0);
    const second = await pidFor("c");
    assert.notEqual(second, first);
    assert.equal(await call("weather", { city: "Oslo" }), "sunny in Oslo");
    assert.equal(isGone(second), false, "a call outside of every tree ends nothing");
  });

  test("that a crash left behind is ended at the next start, and one of a process that lives is not", async (t) => {
    const state = tempFolder(t);
    const program: Program = { argv: ["/bin/sleep", "300"], env: {} };
    const launch = { program, cwd: state };
    const [orphan, kept] = await Promise.all([
      startHeld({ ...launch, step: "mcp:a" }),
      startHeld({ ...launch, step: "mcp:b" }),
    ]);
    t.after(() => process.kill(kept.note.pid, "SIGKILL"));
    for (const held of [orphan, kept]) held.release();
    await noteProcess(state, orphan.note);
    const [file = ""] = readdirSync(join(state, "mcp-processes"));
    const path = join(state, "mcp-processes", file);
    const noted = JSON.parse(readFileSync(path, "utf8"));
    writeFileSync(path, JSON.stringify({ ...noted, owner: { pid: 2 ** 22 - 1, start: "long ago" } }));
    await noteProcess(state, kept.note);
    // A crash while a note was written leaves it under another name.
    writeFileSync(join(state, "mcp-processes", "left.tmp"), readFileSync(path));
    await endLeftServers(state);
    await until(() => isGone(orphan.note.pid));
    assert.equal(isGone(kept.note.pid), false);
    assert.equal(readdirSync(join(state, "mcp-processes")).length, 1);
  });

  test("that floods, that answers with very much, or that is broken or silent, stops nobody", async (t) => {
    const { call } = scene(t, "good");
    await assert.rejects(call("flood"), /sends more messages than anybody can read/);
    const huge = String(await call("huge"));
    assert.ok(
      huge.length < 2_100_000 && huge.endsWith("[the rest of 5000000 characters was not kept]"),
      String(huge.length),
    );
    const broken = scene(t, "broken");
    for (let attempt = 0; attempt < 3; attempt += 1)
      await assert.rejects(broken.call("weather"), { code: "unreachable" });
    const began = performance.now();
    await assert.rejects(broken.call("weather"), /failed 3 times; it is tried again in/);
    assert.ok(performance.now() - began < 500);
  });

  test("that ends when it is asked for the newest revision is asked again without it", async (t) => {
    assert.equal(await scene(t, "shy").call("weather", { city: "Oslo" }), "sunny in Oslo");
  });

  test("asks a person through the call that is running, and the time of the call stands still meanwhile", async (t) => {
    const asked: Elicitation[] = [];
    const answer = await scene(t, "good").call(
      "ask",
      {},
      {
        timeoutMs: 1_000,
        async elicit(wanted) {
          asked.push(wanted);
          await new Promise((resolve) => setTimeout(resolve, 1_300));
          return { action: "accept", content: { name: "Ada" } };
        },
      },
    );
    assert.deepEqual(JSON.parse(String(answer)), { action: "accept", content: { name: "Ada" } });
    assert.equal(asked[0]?.message, "Who are you?");
  });

  test("is confined: it reads the task's folder and changes nothing, unless it may write there", async (t) => {
    if (!sandbox.confined) return t.skip("programs cannot be confined here");
    const { call, root } = scene(t, "good", { confined: true });
    await assert.rejects(
      call("touch", { path: join(root, "made.txt") }),
      (error: TuttiError) => error.code !== "deadline",
    );
    assert.equal(existsSync(join(root, "made.txt")), false);
    const writing = scene(t, "good", { confined: true, write: true });
    assert.equal(await writing.call("touch", { path: join(writing.root, "made.txt") }), "written");
    assert.equal(existsSync(join(writing.root, "made.txt")), true);
    const outside = join(writing.root, "..", "made.txt");
    await writing.call("touch", { path: outside }).catch(() => undefined);
    assert.equal(existsSync(outside), false);
  });
});
