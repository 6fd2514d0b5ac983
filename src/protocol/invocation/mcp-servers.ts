// MCP servers as configs, agent definitions and `.mcp.json` name them: a program to start, or an address to call.

import { z } from "zod";

import type { ReadIssue } from "../lenient-read.ts";
import { issuesOf } from "../lenient-read.ts";

/** Two underscores in a row separate the parts of a tool's name, so a server's own name has none. */
const McpServerName = z
  .string()
  .regex(
    /^(?!.*__)[A-Za-z0-9](?:[A-Za-z0-9_-]{0,30}[A-Za-z0-9-])?$/,
    "must be at most 32 letters, digits, - and single _, and end with a letter or digit",
  );

const text = z.string().max(100_000);
const shared = {
  /** How long one call may take without a sign of progress. */
  timeout_ms: z
    .int()
    .positive()
    .max(60 * 60_000)
    .default(60_000),
};

const StdioServer = z.object({
  type: z.literal("stdio").default("stdio"),
  command: text.min(1),
  args: z.array(text).max(1000).default([]),
  /** Values may hold `${NAME}` or `${NAME:-default}`. */
  env: z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "must be the name of a variable"), text).default({}),
  /**
   * Relative to the task's folder; for the server of a repository, to the copy of its files. When absent, a server of the
   * person's own runs in a folder of its own.
   */
  cwd: text.optional(),
  /** Files and folders of the project that the server of a repository needs beside those that its settings name. */
  files: z.array(text.min(1)).max(100).optional(),
  /** Whether the server reaches the network. */
  network: z.boolean().default(true),
  /** Whether the server may change files in the task's folders. Each of its calls then counts as not confined. */
  write: z.boolean().default(false),
  ...shared,
});

const HttpServer = z.object({
  type: z.enum(["http", "streamable-http"]).default("http"),
  url: text.min(1),
  headers: z
    .record(z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, "must be the name of a header"), text)
    .default({}),
  /** For a client that was registered by hand; without it, Tutti registers itself where the server lets it. */
  oauth: z
    .object({
      client_id: text.min(1),
      client_secret: text.optional(),
      scope: text.optional(),
      /** The authorization server that gets the secret; without it, only the server itself does, or one confirmed in a login. */
      issuer: text.optional(),
      /** `client_credentials`: the client acts for itself, and no person logs in. */
      grant: z.enum(["authorization_code", "client_credentials"]).default("authorization_code"),
    })
    .optional(),
  ...shared,
});

/** Fields that other programs have there are ignored. */
export const McpServerEntry = z.union([StdioServer, HttpServer]);
export type McpServerEntry = z.infer<typeof McpServerEntry>;
export type StdioServer = z.infer<typeof StdioServer>;
export type HttpServer = z.infer<typeof HttpServer>;

export const McpServers = z.record(McpServerName, McpServerEntry);
export type McpServers = z.infer<typeof McpServers>;

/** The servers of an agent: by a name that is known elsewhere (null), or as its own. */
export const AgentServers = z.record(McpServerName, McpServerEntry.nullable());
export type AgentServers = z.infer<typeof AgentServers>;

export interface NamedProblem extends ReadIssue {
  readonly server: string;
}

const File = z.object({ mcpServers: z.record(z.string(), z.unknown()).default({}) });

/** Reads the content of a `.mcp.json`. A server that cannot be used is left out and named; the others count. */
export function readMcpFile(value: unknown): {
  readonly servers: McpServers;
  readonly problems: readonly NamedProblem[];
} {
  const file = File.safeParse(value);
  if (!file.success) return { servers: {}, problems: issuesOf(file.error).map((issue) => ({ ...issue, server: "" })) };
  const servers: Record<string, McpServerEntry> = {};
  const problems: NamedProblem[] = [];
  for (const [server, given] of Object.entries(file.data.mcpServers)) {
    const name = McpServerName.safeParse(server);
    const schema = isObject(given) && "url" in given ? HttpServer : StdioServer;
    const entry = schema.safeParse(given);
    if (name.success && entry.success) servers[server] = entry.data;
    else {
      const issues = [...(name.success ? [] : issuesOf(name.error)), ...(entry.success ? [] : issuesOf(entry.error))];
      problems.push(...issues.map((issue) => ({ ...issue, server })));
    }
  }
  return { servers, problems };
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** How the tools of servers begin. */
export const mcpPrefix = "mcp__";

/** `mcp__server`, `mcp__server__*` and `mcp__server__tool` name tools of a server. */
export function serverInName(name: string): string | undefined {
  return name.startsWith(mcpPrefix) ? name.slice(mcpPrefix.length).split("__")[0] : undefined;
}
