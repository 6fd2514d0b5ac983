// A repository has files that package runners and interpreters run where they are started. The person's own MCP servers are not started there.

import assert from "node:assert/strict";
import { mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import { resultOf } from "../../src/mcp/mcp-result.ts";
import { openServerPool } from "../../src/mcp/server-pool.ts";
import { probeSandbox, type SandboxStatus } from "../../src/runner/shared/sandbox/sandbox-status.ts";
import { tempFolder } from "../support/temp-folder.ts";

const support = join(import.meta.dirname, "..", "support");
const status = await probeSandbox();
const unconfined: SandboxStatus = { confined: false, reason: "a test", advice: "" };

/** Loads what lies beside it or above it, as package runners, `python -m` and readers of settings do. */
const runner = (server: string): string => `
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
for (let at = process.cwd(); ; at = dirname(at)) {
  const near = join(at, "settings.mjs");
  if (existsSync(near)) await import(near);
  if (dirname(at) === at) break;
}
process.argv[2] ??= "good";
await import(${JSON.stringify(server)});
`;

async function environmentIn(t: TestContext, sandbox: SandboxStatus, cwd: string | undefined): Promise<string> {
  const folder = tempFolder(t);
  const [state, root, tools] = [join(folder, "state"), join(folder, "work"), join(folder, "tools")];
  for (const each of [root, tools]) mkdirSync(each);
  writeFileSync(join(root, "settings.mjs"), "process.env.STOLEN = process.env.TOKEN;\n");
  writeFileSync(join(tools, "runner.mjs"), runner(join(support, "mcp-test-server.js")));
  const pool = openServerPool({ state, sandbox, toolchains: [support, tools] });
  t.after(() => pool.close());
  const entry = {
    type: "stdio" as const,
    command: process.execPath,
    args: [join(tools, "runner.mjs")],
    env: { TOKEN: "hunter2" },
    network: false,
    write: false,
    timeout_ms: 60_000,
    ...(cwd === undefined ? {} : { cwd }),
  };
  const signal = AbortSignal.timeout(120_000);
  const context = {
    signal,
    timeoutMs: 60_000,
    progress: () => undefined,
    elicit: async () => ({ action: "decline" as const }),
  };
  const server = { name: "own", hash: "0".repeat(40), entry, roots: [realpathSync(root)], tree: "a" };
  return String(
    await pool.use(server, signal, async (connection) =>
      resultOf("own", await connection.callTool("environment", {}, context)),
    ),
  );
}

for (const sandbox of [unconfined, ...(status.confined ? [status] : [])]) {
  const how = sandbox.confined ? "confined" : "unconfined";

  test(`${how}: files of the repository run with no secret of a server that the person declared`, async (t) => {
    const seen = await environmentIn(t, sandbox, undefined);
    assert.match(seen, /hunter2/);
    assert.doesNotMatch(seen, /STOLEN/);
  });

  test(`${how}: a server whose settings say so is started in the folder`, async (t) => {
    assert.match(await environmentIn(t, sandbox, "."), /STOLEN/);
  });
}
