// All MCP servers that a project has: of the person's own config, of the project's config, of `.mcp.json` and of agent definitions.

import { statSync } from "node:fs";
import { join } from "node:path";

import { variableNames } from "../../mcp/expand-variables.ts";
import { launchHash } from "../../mcp/server-identity.ts";
import { readOptionalFile } from "../../files/read-optional-file.ts";
import type { AgentDefinition } from "../../protocol/invocation/invocation-file.ts";
import { type McpServerEntry, type McpServers, readMcpFile } from "../../protocol/invocation/mcp-servers.ts";
import { readWrittenJson } from "../../protocol/json/written-json.ts";

const largestFile = 1024 * 1024;

/** What configs say about servers. */
export interface ServerSources {
  readonly user: McpServers;
  /** Names of variables that servers of projects may have. */
  readonly variables: readonly string[];
  /** The project's config, which a person trusted with its content. */
  readonly config: McpServers;
  /** The folder of the project. */
  readonly project: string | undefined;
  readonly agents: Readonly<Record<string, AgentDefinition>>;
}

export interface DeclaredServer {
  readonly name: string;
  readonly entry: McpServerEntry;
  readonly hash: string;
  /** Where it was found. */
  readonly from: string;
  /** Under which project agreements are kept; empty for the person's own servers. */
  readonly project: string;
  /** It is a repository's, so a person must agree before it is started. Configs are trusted with their content. */
  readonly needsYes: boolean;
  readonly onlyNamed: boolean;
  readonly allowed: readonly string[] | "all";
  /** The names of variables that its settings refer to. */
  readonly variables: readonly string[];
}

export interface Declared {
  readonly servers: readonly DeclaredServer[];
  /** What cannot be used, one sentence each. */
  readonly problems: readonly string[];
}

/** Of two servers with one name, the one that a person trusts more counts: nothing from a repository takes its place. */
export function declaredServers({ user, variables, config, project, agents }: ServerSources): Declared {
  const servers = new Map<string, DeclaredServer>();
  const problems: string[] = [];
  const add = (
    name: string,
    entry: McpServerEntry,
    about: Omit<DeclaredServer, "name" | "entry" | "hash" | "variables">,
  ): void => {
    const known = servers.get(name);
    const hash = launchHash(name, entry);
    if (known === undefined) servers.set(name, { name, entry, hash, variables: variableNames(entry), ...about });
    else if (known.hash !== hash)
      problems.push(`${about.from}: the server ${name} is not used: ${known.from} has one of that name`);
  };
  const isOf = { project: project ?? "", onlyNamed: false, allowed: variables };
  for (const [name, entry] of Object.entries(user)) {
    add(name, entry, { ...isOf, from: "your own config", project: "", needsYes: false, allowed: "all" });
  }
  for (const [name, entry] of Object.entries(config)) {
    add(name, entry, { ...isOf, from: "the project's config", needsYes: false });
  }
  if (project !== undefined) {
    const file = readMcpJson(project);
    problems.push(...file.problems);
    for (const [name, entry] of Object.entries(file.servers))
      add(name, entry, { ...isOf, from: ".mcp.json", needsYes: true });
  }
  for (const [agent, { mcp_servers }] of Object.entries(agents)) {
    for (const [name, entry] of Object.entries(mcp_servers ?? {})) {
      if (entry !== null) add(name, entry, { ...isOf, from: `the agent ${agent}`, needsYes: true, onlyNamed: true });
      else if (!servers.has(name)) problems.push(`the agent ${agent}: there is no MCP server ${name}`);
    }
  }
  return { servers: [...servers.values()], problems };
}

function readMcpJson(project: string): { readonly servers: McpServers; readonly problems: readonly string[] } {
  const path = join(project, ".mcp.json");
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size > largestFile) return { servers: {}, problems: [`${path} is too long`] };
  const text = size === 0 ? undefined : readOptionalFile(path);
  if (text === undefined) return { servers: {}, problems: [] };
  const json = readWrittenJson(text);
  if (!json.ok) return { servers: {}, problems: [`${path} ${json.problem}`] };
  const { servers, problems } = readMcpFile(json.value);
  return {
    servers,
    problems: problems.map(
      ({ server, path: field, message }) =>
        `${path}: ${[server, field].filter((part) => part !== "").join(".")}: ${message}`,
    ),
  };
}
