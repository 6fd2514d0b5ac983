import assert from "node:assert/strict";
import { test } from "node:test";

import { tryTool } from "../../../test/support/try-tool.ts";
import { type Command, runTool } from "./run.ts";

/** The tool over a machine that runs nothing and notes what it was asked to run. */
function fakeRun(confined: boolean) {
  const commands: Command[] = [];
  const tool = runTool({
    confined,
    place: async () => ({ cwd: "/", environment: [], protectedFiles: [] }),
    async run(command) {
      commands.push(command);
      const output = { stdout: "", stderr: "", truncated: false };
      return { exit_code: 0, signal: null, timed_out: false, ...output, duration_ms: 1 };
    },
  });
  return { tool, commands };
}

const confined = fakeRun(true);
const unconfined = fakeRun(false);

test("a call says what effects it may have before it runs", () => {
  const effectOf = ({ tool }: typeof confined, input: unknown): unknown => {
    const prepared = tool.prepare(input);
    return prepared.ok ? prepared.effect : prepared.issues;
  };
  assert.deepEqual(effectOf(confined, { argv: ["ls"] }), { effects: ["execute"], confined: true });
  const both = { effects: ["execute", "network"], confined: true };
  assert.deepEqual(effectOf(confined, { argv: ["ls"], network: true }), both);
  assert.deepEqual(effectOf(unconfined, { argv: ["ls"] }), { ...both, confined: false });
});

test("arguments that name no program, or a program and a script, are refused", () => {
  const inputs = [{}, { argv: ["a"], shell: "b" }, { argv: [] }, { argv: [" "] }, { argv: ["a", "\0"] }, { shell: "" }];
  for (const input of inputs) assert.ok(!confined.tool.prepare(input).ok, JSON.stringify(input));
});

test("the outcome says whether the program was confined and had the network", async () => {
  const outcome = async ({ tool }: typeof confined, network?: boolean) =>
    (await tryTool(tool, { argv: ["ls"], ...(network === undefined ? {} : { network }) }, ["/"])) as object;
  assert.deepEqual(Object.entries(await outcome(confined)).slice(-2), [
    ["confined", true],
    ["network", false],
  ]);
  assert.deepEqual(Object.entries(await outcome(confined, true)).slice(-2), [
    ["confined", true],
    ["network", true],
  ]);
  assert.deepEqual(Object.entries(await outcome(unconfined)).slice(-2), [
    ["confined", false],
    ["network", true],
  ]);
});

test("a script runs in /bin/sh, and a program may run for two minutes unless the call says otherwise", async () => {
  const { tool, commands } = fakeRun(true);
  await tryTool(tool, { shell: "ls | wc" }, ["/"]);
  await tryTool(tool, { argv: ["ls"], cwd: "sub", stdin: "x", timeout_ms: 5 }, ["/"]);
  assert.deepEqual(commands, [
    {
      argv: ["/bin/sh", "-c", "ls | wc"],
      cwd: undefined,
      stdin: "",
      timeoutMs: 120_000,
      network: false,
      mayChangeProtected: false,
    },
    { argv: ["ls"], cwd: "sub", stdin: "x", timeoutMs: 5, network: false, mayChangeProtected: false },
  ]);
});
