// A repository whose config was written by a stranger tries to run code, to stop the daemon, and to hear of other work.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import { daemonFor } from "../e2e/daemon-process.ts";
import { answerAsks } from "../support/answer-asks.ts";
import { scriptedAgent } from "../support/scripted-agent.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { trustProject } from "../support/trusted-project.ts";
import { until } from "../support/wait-until.ts";

const bin = join(import.meta.dirname, "..", "..", "bin", "tutti.js");

test("commands that look or administer execute nothing of the folder they are called in", (t) => {
  // Before the folder is removed: a daemon whose state is gone cannot be found any more.
  let stopDaemon = (): void => undefined;
  t.after(() => stopDaemon());
  const folder = tempFolder(t);
  const [project, state, marker] = [join(folder, "project"), join(folder, "state"), join(folder, "ran")];
  mkdirSync(join(project, ".git"), { recursive: true });
  const code = `import { appendFileSync } from "node:fs"; appendFileSync(${JSON.stringify(marker)}, process.argv.join(" ")); process.exit(0);`;
  writeFileSync(join(project, "tutti.config.mjs"), code);
  const env = { PATH: process.env["PATH"], HOME: folder, NO_COLOR: "1" };
  const tutti = (...args: string[]): { status: number | null; said: string } => {
    const options = { cwd: project, env, encoding: "utf8", timeout: 240_000, input: "" } as const;
    const { status, stdout, stderr } = spawnSync(process.execPath, [bin, ...args], options);
    return { status, said: stdout + stderr };
  };
  stopDaemon = () => void tutti("down", "--force", "--state", state);
  const looking = [
    ["doctor", "--state", state],
    ["models", "--offline", "--state", state],
    ["trust", "--show", "--state", state],
    ["agents", "list"],
    ["up", "--detach", "--port", "0", "--state", state],
    ...[["keys", "list"], ["operators"], ["pause"], ["resume"], ["status"], ["tasks"], ["asks"], ["logs"]].map(
      (each) => [...each, "--state", state],
    ),
    ["down", "--state", state],
    // Starts a daemon on its own.
    ["keys", "list", "--state", state],
  ];
  for (const args of looking) {
    const { status, said } = tutti(...args);
    assert.equal(status, 0, `${args.join(" ")}: ${said}`);
    assert.ok(!existsSync(marker), args.join(" "));
  }
});

async function trusting(t: TestContext, config: string) {
  const daemon = await daemonFor(t);
  const project = join(daemon.folder, "project");
  mkdirSync(join(project, ".git"), { recursive: true });
  writeFileSync(join(project, "tutti.config.mjs"), config);
  trustProject(daemon.state, project);
  return { daemon, client: daemon.client(), project };
}

const tool = (name: string, run: string): string =>
  `{ name: "${name}", description: "Does.", parameters: { type: "object" }, effects: ["read"], timeout_ms: 500, run: ${run},
     input: { "~standard": { version: 1, vendor: "own", validate: (value) => ({ value }) } } }`;

test("a tool that ends its process or never returns fails its call; the daemon and other tools go on", async (t) => {
  const tools = [
    tool("exits", "() => process.exit(3)"),
    tool("hangs", "() => { while (true); }"),
    tool("works", "() => 'fine'"),
  ];
  const { daemon, client, project } = await trusting(t, `export default { tools: [${tools.join(",")}] };`);
  const { pid } = daemon;
  for (const [name, told] of [
    ["exits", /it ended with status 3/],
    ["works", /fine/],
    ["hangs", /did not end within its 500 ms/],
    ["works", /fine/],
  ] as const) {
    const { task } = await client.invoke(scriptedAgent([{ tool: name, args: {} }]), { folder: project, anew: true });
    const answering = answerAsks(client, task, () => true);
    const began = Date.now();
    await client.status();
    assert.ok(Date.now() - began < 2_000, "it answers meanwhile");
    assert.match(JSON.stringify((await answering).result), told, name);
  }
  assert.equal(daemon.pid, pid);
  assert.equal((await client.status()).pid, pid);
});

for (const [what, config, told] of [
  ["ends its process", "process.exit(7);", /it ended with status 7/],
  ["never comes to an end", "while (true);", /took longer than 10000 ms to load/],
] as const) {
  test(`a trusted config that ${what} while it loads fails its own tasks, and the daemon goes on`, async (t) => {
    const { client, project } = await trusting(t, config);
    const began = Date.now();
    const starting = client.invoke(scriptedAgent([]), { folder: project });
    starting.catch(() => undefined);
    const { task } = await client.invoke(scriptedAgent([]), { folder: join(project, "..") });
    assert.equal((await client.result(task)).status, "completed");
    assert.ok(Date.now() - began < 8_000, "another project does not wait for it");
    await assert.rejects(starting, told);
    assert.ok((await client.status()).pid > 0);
  });
}

test("a repository's notifications hear of nothing, and the user's own do", async (t) => {
  const folder = tempFolder(t);
  const [theirs, mine] = [join(folder, "theirs"), join(folder, "mine")];
  const notifying = (file: string): string => JSON.stringify({ notifications: { command: ["touch", file] } });
  const { daemon, client, project } = await trusting(t, `export default ${notifying(theirs)};`);
  writeFileSync(join(daemon.folder, "tutti.config.json"), notifying(theirs));
  mkdirSync(join(daemon.folder, ".tutti"), { mode: 0o700 });
  writeFileSync(join(daemon.folder, ".tutti", "tutti.config.json"), notifying(mine));
  await daemon.stop();
  await daemon.up();
  const { task } = await client.invoke(scriptedAgent([]), { folder: project });
  assert.equal((await client.result(task)).status, "completed");
  await until(() => existsSync(mine));
  assert.ok(!existsSync(theirs));
  assert.match(daemon.output, /notifications is ignored/);
});
