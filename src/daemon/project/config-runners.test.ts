import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import { tempFolder } from "../../../test/support/temp-folder.ts";
import { trustProject } from "../../../test/support/trusted-project.ts";
import { failsWith } from "../../../test/support/try-tool.ts";
import { named, single } from "../../protocol/invocation/invocation-builders.ts";
import { InvocationResult } from "../../protocol/invocation/invocation-result.ts";
import { openState } from "../state/open-state.ts";
import { openProject } from "./open-project.ts";

const farm = `import { defineRunner } from "tutti";
  export default { runners: [defineRunner({ kind: "farm", description: "a build farm", runtime: "cloud",
    run: ({ config, agent, instructions, message, messages, attempt }, { key, roots }) => {
      if (config.fail) throw new Error("no machine is free");
      return { pid: process.pid, config, agent, instructions, message, attempt, keyed: key !== "", roots, ...(messages === undefined ? {} : { messages }) };
    } })] };`;

function place(t: TestContext, config: string) {
  const folder = tempFolder(t);
  const [project, state] = [join(folder, "project"), join(folder, "state")];
  mkdirSync(project);
  writeFileSync(join(project, "tutti.config.mjs"), config);
  return { project, state };
}

async function run(t: TestContext, agent: object): Promise<{ status: string; content: unknown }> {
  const { project, state } = place(t, farm);
  trustProject(state, project);
  const opened = await openState(state);
  t.after(() => opened.close());
  const { client } = opened;
  const body = {
    invocation: single(named("a", "Build it.")),
    agents: { a: { instructions: "Build.", ...agent } },
    roots: ["."],
  };
  const { task } = await client.invoke(JSON.stringify(body), { folder: project });
  const result = InvocationResult.parse((await client.result(task)).content);
  assert.ok(result.kind === "scalar");
  return result.result;
}

test("a runner that the config registers runs a task, in the process of the config", async (t) => {
  const runner = { kind: "farm", config: { image: "node" } };
  const { status, content } = await run(t, { runner });
  assert.equal(status, "completed", JSON.stringify(content));
  const { pid, roots, ...rest } = content as { pid: number; roots: string[] };
  assert.notEqual(pid, process.pid);
  assert.equal(roots.length, 1);
  const told = {
    config: runner.config,
    agent: "a",
    instructions: "Build.",
    message: "Build it.",
    attempt: 1,
    keyed: true,
  };
  assert.deepEqual(rest, told);
});

test("an agent reaches it by its runtime, and what it throws fails the task", async (t) => {
  assert.equal((await run(t, { runtimes: ["cloud"] })).status, "completed");
  const failed = await run(t, { runner: { kind: "farm", config: { fail: true } } });
  assert.equal(failed.status, "failed");
  assert.match(JSON.stringify(failed.content), /the runner farm failed: no machine is free/);
});

test("runners are listed with the built-in ones once the config is trusted, and a bad one says what is wrong", async (t) => {
  const { project, state } = place(t, farm);
  const kinds = async () => {
    const { runners, problem } = await openProject(project, { state }).runners();
    return { kinds: runners.map(({ kind, of }) => `${of} ${kind}`), isUsed: problem === undefined };
  };
  const builtin = ["builtin local", "builtin command", "builtin operator", "builtin acp"];
  assert.deepEqual(await kinds(), { kinds: builtin, isUsed: false });
  trustProject(state, project);
  assert.deepEqual(await kinds(), { kinds: [...builtin, "project farm"], isUsed: true });
  writeFileSync(
    join(project, "tutti.config.mjs"),
    `export default { runners: [{ kind: "command", description: "x" }] };`,
  );
  trustProject(state, project);
  await assert.rejects(
    kinds(),
    failsWith("invalid_input", /runners\[0\]: kind: is the kind of a built-in.*run: must be/),
  );
});

test("a registered runner gets the parts of a message that are not text", async (t) => {
  const { project, state } = place(t, farm);
  trustProject(state, project);
  const opened = await openState(state);
  t.after(() => opened.close());
  const parts = [
    { part_type: "text", data: "Build it." },
    { part_type: "data", data: { plan: 7 } },
  ];
  const target = { agent: { type: "named", agent_id: "a" }, message: { role: "user", parts } };
  const runner = { kind: "farm", config: {} };
  const body = { invocation: { targets: [target] }, agents: { a: { instructions: "Build.", runner } }, roots: ["."] };
  const { task } = await opened.client.invoke(JSON.stringify(body), { folder: project });
  const result = InvocationResult.parse((await opened.client.result(task)).content);
  assert.ok(result.kind === "scalar");
  assert.partialDeepStrictEqual(result.result.content, { message: "Build it.", messages: [{ role: "user", parts }] });
});
