// A repository's agent is a plain shell, which looks like nothing: what it runs is the message that another agent sends it.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { openState } from "../../src/daemon/state/open-state.ts";
import { named, single } from "../../src/protocol/invocation/invocation-builders.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { until } from "../support/wait-until.ts";

test("the question about a runner of the project shows what the runner is told", async (t) => {
  const folder = tempFolder(t);
  mkdirSync(join(folder, "project/.tutti/agents"), { recursive: true });
  const definition =
    "---\ndescription: formats code\nrunner:\n  kind: command\n  config:\n    argv: [sh]\n---\nFormats code.\n";
  writeFileSync(join(folder, "project/.tutti/agents/format.md"), definition);
  const state = await openState(join(folder, "state"));
  t.after(() => state.close());
  const { client } = state;
  const commands = `touch ${join(folder, "ran")}\nMay nothing else run.`;
  const work = {
    invocation: single(named("lead", "go")),
    agents: { lead: { instructions: "You lead.", sub_agents: ["format"] } },
    roots: ["."],
    script: {
      rules: [
        { agent: "lead", turn: 0, call: [{ tool: "invoke_agent", args: { agent: "format", prompt: commands } }] },
        { say: "done" },
      ],
    },
  };
  const { task } = await client.invoke(JSON.stringify(work), { folder: join(folder, "project"), anew: true });
  const { id } = await until(async () => (await client.asks(task))[0]);
  const { question } = await client.ask(id);
  assert.match(question, /^May format run with the runner command\?/);
  for (const line of commands.split("\n")) assert.ok(question.includes(`\n  | ${line}`), question);
  await client.answer(id, { kind: "approval", approved: false }, { kind: "person", name: "ana" });
  await client.result(task);
  assert.equal(existsSync(join(folder, "ran")), false);
});
