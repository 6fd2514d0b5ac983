import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import { openTestState } from "../../../test/support/state-on-store.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { trustProjectIn } from "../../../test/support/trusted-project.ts";
import { failsWith } from "../../../test/support/try-tool.ts";
import { taskBodyIn } from "../../engine/task-body.ts";
import type { TaskId } from "../../protocol/ids.ts";
import { named, single } from "../../protocol/invocation/invocation-builders.ts";
import { InvocationFile } from "../../protocol/invocation/invocation-file.ts";
import { InvocationResult } from "../../protocol/invocation/invocation-result.ts";
import { idInName } from "../../store/names.ts";

const script = { rules: [{ agent: "writer", final: "written" }, { final: "done" }] };

async function projectWith(t: TestContext, agents: Readonly<Record<string, string>>, config?: object) {
  const folder = tempFolder(t);
  const project = join(folder, "project");
  mkdirSync(join(project, ".tutti/agents"), { recursive: true });
  for (const [name, text] of Object.entries(agents)) writeFileSync(join(project, `.tutti/agents/${name}.md`), text);
  if (config !== undefined) writeFileSync(join(project, "tutti.config.json"), JSON.stringify(config));
  const state = await openTestState(join(folder, "state"));
  t.after(() => state.close());
  if (config !== undefined) await trustProjectIn(join(folder, "state"), project);
  const { client, view } = state;
  return {
    client,
    start: (body: object, key?: string) =>
      client.invoke(JSON.stringify(body), { folder: project, ...(key === undefined ? {} : { key }) }),
    write: (name: string, text: string) => writeFileSync(join(project, `.tutti/agents/${name}.md`), text),
    recorded: async (task: TaskId): Promise<InvocationFile> => {
      const row = await view.taskRow(idInName(view.salt, task) ?? 0);
      return InvocationFile.parse(taskBodyIn(row?.body ?? "").input);
    },
    content: async (task: TaskId): Promise<unknown> => {
      const result = InvocationResult.parse((await client.result(task)).content);
      return result.kind === "scalar" ? result.result.content : undefined;
    },
  };
}

const markdown = (body: string, front = ""): string => `---\ndescription: x\n${front}---\n${body}\n`;

test("an agent that the invocation does not define is taken from the project and recorded with what it reaches", async (t) => {
  const { start, recorded, content } = await projectWith(t, {
    writer: markdown("Write.", "sub_agents: [helper]\n"),
    helper: markdown("Help.", "tools: [read]\n"),
    stranger: markdown("Not reached."),
  });
  const { task } = await start({ invocation: single(named("writer", "go")), script });
  assert.equal(await content(task), "written");
  assert.deepEqual(Object.keys((await recorded(task)).agents), ["helper", "writer"]);
});

test("an agent of the file goes before one of the project, and names what it needs from there", async (t) => {
  const { start, recorded } = await projectWith(t, { writer: markdown("Of the project."), helper: markdown("Help.") });
  const agents = { writer: { instructions: "Of the file.", handover: ["helper"] } };
  const { task } = await start({ invocation: single(named("writer", "go")), agents, script });
  const file = await recorded(task);
  assert.equal(file.agents["writer"]?.instructions, "Of the file.");
  assert.match(file.agents["helper"]?.instructions ?? "", /Help/);
});

test("a target that is nowhere, or whose file is broken, starts nothing and says why", async (t) => {
  const { start, client } = await projectWith(t, {
    writer: markdown("Write."),
    broken: "---\nmax_turns: no\n---\nx\n",
  });
  const at = (name: string) => start({ invocation: single(named(name, "go")), script });
  await assert.rejects(at("nobody"), failsWith("invalid_input", /there is no agent nobody; there are: writer/));
  await assert.rejects(
    at("broken"),
    failsWith("invalid_input", /broken\.md:2: max_turns.*so there is no agent broken/),
  );
  assert.deepEqual((await client.tasks()).tasks, []);
});

test("an invocation by itself is a body, and the configured default model is recorded with the tree", async (t) => {
  const config = { models: { default: "fast", aliases: { fast: "nowhere/m" }, providers: { nowhere: provider } } };
  const { start, recorded, client } = await projectWith(t, { writer: markdown("Write.") }, config);
  const { task, warnings } = await start({ ...single(named("writer", "go")), extra: 1 });
  assert.deepEqual(warnings, ["extra: is not a known field and was ignored"]);
  assert.equal((await recorded(task)).model, "nowhere/m");
  await client.cancel(task, "enough");
  const mixed = start({ ...single(named("writer", "go")), agents: {} });
  await assert.rejects(mixed, failsWith("invalid_input", /agents: belongs beside the invocation/));
});

const provider = { kind: "openai-compatible", base_url: "http://127.0.0.1:9/v1", key_env: null };

test("a repeated request finds its task although an agent was edited, and without a key the edit is other work", async (t) => {
  const { start, write } = await projectWith(t, { writer: markdown("Write.") });
  const slow = { rules: [{ delay_ms: 5_000, final: "late" }] };
  const body = { invocation: single(named("writer", "go")), script: slow };
  const [keyed, plain] = [await start(body, "k1"), await start(body)];
  write("writer", markdown("Write more."));
  assert.deepEqual(await start(body, "k1"), { ...keyed, existed: true });
  assert.notEqual((await start(body)).task, plain.task);
});

test("an MCP server that nobody has declared is refused before the first task, with those that there are", async (t) => {
  const config = { mcpServers: { weather: { command: "true" } } };
  const { start, client } = await projectWith(t, { writer: markdown("Write.", "tools: [mcp__nosuch__x]\n") }, config);
  const message = { role: "user", parts: [{ part_type: "text", data: "go" }] };
  const adHoc = (tools: object) => ({ agent: { type: "ad_hoc", system_prompt: "Help.", tools }, message });
  const refusal = failsWith("invalid_input", /there is no MCP server nosuch that could be used; there are: weather/);
  for (const body of [
    { invocation: { targets: [adHoc({ mcp: [{ server: "weather" }, { server: "nosuch" }] })] } },
    { invocation: { targets: [adHoc({ builtin: ["mcp__nosuch__x"] })] } },
    { invocation: { ...single(named("writer", "go")) } },
    {
      invocation: { ...single(named("own", "go")), tools: { kind: "exact", tools: ["mcp__nosuch"] } },
      agents: { own: { instructions: "x" } },
    },
  ]) {
    await assert.rejects(start({ ...body, script }), refusal, JSON.stringify(body));
  }
  assert.deepEqual((await client.tasks({ limit: 10 })).tasks, []);
});
