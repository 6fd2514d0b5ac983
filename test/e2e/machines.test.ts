// Daemons on machines with different folders are one Tutti: work goes to the machine that has its project, whichever is asked.

import assert from "node:assert/strict";
import { mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, test } from "node:test";

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { z } from "zod";

import { named, single } from "../../src/protocol/invocation/invocation-builders.ts";
import { agentFile } from "../support/acp-kit.ts";
import { testRepository } from "../support/git-kit.ts";
import { type NodeProcess, nodeProcesses } from "../support/node-processes.ts";
import { postgresPrograms } from "../support/postgres-server.ts";
import { ledgerIgnored, skip as sessionSkip } from "../support/session-place.ts";
import { sharedServer } from "../support/stores.ts";
import { type Cleanup, tempFolder } from "../support/temp-folder.ts";
import { failsWith } from "../support/try-tool.ts";
import { until } from "../support/wait-until.ts";

const skip = postgresPrograms() === undefined ? "PostgreSQL is not installed" : false;
after(() => {
  if (skip === false) sharedServer().stop();
});

const soon = (): AbortSignal => AbortSignal.timeout(240_000);
const reading = JSON.stringify({
  invocation: single(named("reader", "What is there?")),
  roots: ["."],
  script: { rules: [{ turn: 0, call: [{ tool: "read", args: { path: "what.txt" } }] }, { final: "{{last}}" }] },
});
const agent = "---\ndescription: reads\ntools: [read]\n---\nYou read.\n";

interface Machines {
  /** A folder that only the machine of `b` has. */
  readonly folder: string;
  readonly a: NodeProcess;
  readonly b: NodeProcess;
}

async function twoMachines(t: Cleanup): Promise<Machines> {
  const nodes = nodeProcesses(t, { leaseSeconds: 30 });
  const top = tempFolder(t, "tutti-machine-");
  const folder = join(top, "web");
  mkdirSync(join(folder, ".tutti", "agents"), { recursive: true });
  writeFileSync(join(folder, ".tutti", "agents", "reader.md"), agent);
  writeFileSync(join(folder, "what.txt"), "this is on b\n");
  const [a, b] = await Promise.all([nodes.startWithout([top], "a"), nodes.start("b", "--project", `web=${folder}`)]);
  return { folder, a, b };
}

test(
  "work in a folder that a node does not have is started where it is, once and for its caller",
  { skip },
  async (t) => {
    const { a, b, folder } = await twoMachines(t);
    const { key } = await a.tutti.addKey({ name: "works", role: "operator", person: true });
    const works = a.as(key);
    const first = await works.invoke(reading, { folder, key: "once" });
    assert.deepEqual([first.existed, first.warnings], [false, []]);
    const said = (await a.tutti.result(first.task, soon())).content;
    assert.match(JSON.stringify(said), /this is on b/, "the agent of the project read a file of the project");
    const again = await b.as(key).invoke(reading, { folder, key: "once" });
    assert.deepEqual([again.task, again.existed], [first.task, true], "the key counts at every node");
    assert.equal((await works.invoke(reading, { folder, key: "once" })).task, first.task);
    await assert.rejects(works.invoke(reading.replace("What", "Who"), { folder, key: "once" }), failsWith("conflict"));
    assert.notEqual((await a.tutti.invoke(reading, { folder, key: "once" })).task, first.task, "another caller's key");
    const anew = await works.invoke(reading, { folder, anew: true });
    assert.equal(anew.existed, false);

    const { key: looks } = await a.tutti.addKey({ name: "looks", role: "viewer" });
    await assert.rejects(a.as(looks).invoke(reading, { folder }), failsWith("refused", /role/));

    const goal = {
      text: "Do nothing.",
      folder,
      script: { rules: [{ say: '{"action":"respond","message":"Nothing."}' }] },
    };
    const started = await works.startGoal(goal, { key: "goal" });
    assert.equal((await b.as(key).startGoal(goal, { key: "goal" })).goal, started.goal);
    await a.tutti.cancel(started.task, "enough");

    const talk = await works.startConversation({ folder, script: { rules: [{ say: "Hello." }] } });
    assert.equal((await b.tutti.conversation(talk)).conversation, talk);

    const catalog = await fetch(`${a.url}/v1/agents?folder=${encodeURIComponent(folder)}`, {
      headers: { authorization: `Bearer ${key}` },
    });
    assert.match(await catalog.text(), /"name":"reader"/, "the agents of the project are listed");

    const missing = join(folder, "..", "nowhere");
    await assert.rejects(works.invoke(reading, { folder: missing }), failsWith("not_found", /no node that is up has/));
  },
);

test("a program starts work over MCP at a node that does not have its folder", { skip }, async (t) => {
  const { a, b, folder } = await twoMachines(t);
  const client = new Client({ name: "test", version: "1" });
  const headers = { authorization: `Bearer ${a.key}` };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${a.url}/mcp`), { requestInit: { headers } }));
  t.after(() => client.close());
  const call = { name: "invoke", arguments: { invocation: reading, folder, key: "k" } };
  const Text = z.object({
    content: z.tuple([z.object({ text: z.string() })]),
    isError: z.literal(undefined).optional(),
  });
  const { content } = Text.parse(await client.callTool(call));
  const { task } = z.object({ task: z.string() }).parse(JSON.parse(content[0].text));
  // What comes over MCP is a program's, whatever its key, so a person agrees to the folder.
  const asked = await until(async () => (await a.tutti.asks()).find(({ root }) => root === task));
  await a.tutti.answer(asked.id, { kind: "approval", approved: true }, { kind: "person", name: "ana" });
  assert.match(JSON.stringify((await a.tutti.result(task, soon())).content), /this is on b/);

  b.child.kill("SIGTERM");
  await b.ended;
  await assert.rejects(
    a.tutti.invoke(reading, { folder }),
    failsWith("unreachable", /is on the machine of b, which is not up/),
  );
});

interface Run {
  readonly prompt: string;
  readonly kind: "acp" | "local";
  /** The tasks that it builds on. */
  readonly after?: readonly (string | undefined)[];
}

/** One agent in a workspace of its own; the script is for the agent that is no session. */
function invocationOf({ prompt, kind, after }: Run): string {
  const workspace = after === undefined ? {} : { after };
  const config = kind === "acp" ? { profile: "mine", workspace } : { workspace };
  const script = { rules: [{ turn: 0, call: [{ tool: "read", args: { path: "one.txt" } }] }, { final: "{{last}}" }] };
  return JSON.stringify({
    invocation: single(named("coder", prompt)),
    agents: { coder: { instructions: "You code.", tools: ["read"], runner: { kind, config } } },
    roots: ["."],
    ...(kind === "local" ? { script } : {}),
  });
}

test(
  "a session goes to the machine that has its coding agent, and what builds on its work to the machine that has the work",
  { skip: skip === false ? sessionSkip : skip },
  async (t) => {
    const top = tempFolder(t, "tutti-machine-");
    const program = join(top, "coder");
    writeFileSync(program, `#!/bin/sh\nexec ${process.execPath} ${agentFile} "$@"\n`, { mode: 0o755 });
    const acp = {
      profiles: { mine: { command: [program, ".", "{}"], mode: "asking", login: "none", metered: true } },
      toolchains: [top, dirname(agentFile), dirname(realpathSync(process.execPath))],
    };
    const nodes = nodeProcesses(t, { leaseSeconds: 10, userConfig: { acp } });
    const a = await nodes.startWithout([top], "a");
    const { folder } = testRepository(t, ledgerIgnored);
    const prompt = JSON.stringify([{ shell: "echo one > one.txt" }, { say: "done" }]);
    const { task } = await a.tutti.invoke(invocationOf({ prompt, kind: "acp" }), { folder });
    const waitsFor = /^no node that is up has runner:acp:mine of /;
    await until(async () => waitsFor.test((await a.tutti.status()).parked[0]?.reason ?? ""), "it is shown as parked");
    const b = await nodes.start("b");
    const ended = await a.tutti.result(task, soon());
    assert.equal(ended.status, "completed", JSON.stringify(ended));
    const [leaf] = (await a.tutti.tree(task)).filter(({ id }) => id !== task);
    assert.equal((await b.tutti.workspaces()).workspaces.length, 1);
    assert.equal((await a.tutti.workspaces()).workspaces.length, 0);

    const text = invocationOf({ prompt: "Look.", kind: "local", after: [leaf?.id] });
    const second = await a.tutti.invoke(text, { folder });
    assert.match(JSON.stringify((await a.tutti.result(second.task, soon())).content), /one/);
    assert.equal((await b.tutti.workspaces()).workspaces.length, 2, "it was started where the work is");
    assert.deepEqual((await a.tutti.status()).parked, []);
  },
);
