// All MCP servers that a project has: of the person's own config, of the project's config, of `.mcp.json` and of agent definitions.

import { statSync } from "node:fs";
import { join } from "node:path";

import { seesFolder } from "../../mcp/sees-folder.ts";
import { loaderVariables } from "../../mcp/loader-variables.ts";
import { isTooLong, type ServerTerms, termsHash } from "../../mcp/server-terms.ts";
import type { StartCode } from "../../mcp/start-server.ts";
import { readOptionalFile } from "../../files/read-optional-file.ts";
import type { AgentDefinition } from "../../protocol/invocation/invocation-file.ts";
import { type McpServerEntry, type McpServers, readMcpFile } from "../../protocol/invocation/mcp-servers.ts";
import { toTuttiError, TuttiError } from "../../protocol/error.ts";
import { readWrittenJson } from "../../protocol/json/written-json.ts";
import { serverCode } from "./server-code-files.ts";

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
  /** Of the terms. */
  readonly hash: string;
  /** All that a person agrees to. */
  readonly terms: ServerTerms;
  /** What it is started from; undefined for a server of the person's own. */
  readonly code: StartCode | undefined;
  /** Where it was found. */
  readonly from: string;
  /** Under which project agreements are kept; empty for the person's own servers. */
  readonly project: string;
  /**
   * Whether a person must agree before it is started, and whether they are asked. A config is trusted with its content, so
   * only a server that is started from other files of the project is asked about.
   */
  readonly asked: "never" | "always" | "when named";
  readonly onlyNamed: boolean;
  readonly allowed: readonly string[] | "all";
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
  const add = (server: DeclaredServer): void => {
    const { name, entry, from } = server;
    const known = servers.get(name);
    if (known === undefined) servers.set(name, server);
    else if (termsHash({ name, entry: known.entry }) !== termsHash({ name, entry }))
      problems.push(`${from}: the server ${name} is not used: ${known.from} has one of that name`);
  };
  const addTheirs = (name: string, entry: McpServerEntry, about: Pick<DeclaredServer, "from" | "asked">): void => {
    try {
      const code = startCode(project, entry);
      const terms = { name, entry, code: code.files };
      refuseUnshowable(terms);
      const isAsked = about.asked !== "always" || Object.keys(code.files).length > 0;
      const asked = isAsked ? about.asked : "never";
      const onlyNamed = about.from.startsWith(ofAgent);
      const whose = { project: project ?? "", onlyNamed, allowed: variables };
      add({ name, entry, hash: termsHash(terms), terms, code, ...whose, from: about.from, asked });
    } catch (thrown) {
      problems.push(`${about.from}: the server ${name} is not used: ${toTuttiError(thrown).message}`);
    }
  };
  for (const [name, entry] of Object.entries(user)) {
    const terms = { name, entry };
    const whose = { project: "", onlyNamed: false, allowed: "all" } as const;
    add({ name, entry, hash: termsHash(terms), terms, code: undefined, ...whose, from: ownConfig, asked: "never" });
  }
  for (const [name, entry] of Object.entries(config)) {
    addTheirs(name, entry, { from: projectConfig, asked: "always" });
  }
  if (project !== undefined) {
    const file = readMcpJson(project);
    problems.push(...file.problems);
    for (const [name, entry] of Object.entries(file.servers))
      addTheirs(name, entry, { from: ".mcp.json", asked: "when named" });
  }
  for (const [agent, { mcp_servers }] of Object.entries(agents)) {
    for (const [name, entry] of Object.entries(mcp_servers ?? {})) {
      if (entry !== null) addTheirs(name, entry, { from: `${ofAgent}${agent}`, asked: "when named" });
      else if (!servers.has(name)) problems.push(`the agent ${agent}: there is no MCP server ${name}`);
    }
  }
  return { servers: [...servers.values()], problems };
}

export const ownConfig = "your own config";
export const projectConfig = "the project's config";
const ofAgent = "the agent ";

function startCode(project: string | undefined, entry: McpServerEntry): StartCode {
  const seesFolders = !("url" in entry) && seesFolder(entry);
  return { ...serverCode(project, entry), seesFolders };
}

/** Throws `refused` for a server that nobody could judge by its settings, so that nobody is asked about it. */
function refuseUnshowable(terms: ServerTerms): void {
  const { entry } = terms;
  const instead = "put the server into mcpServers of ~/.tutti/tutti.config.json if you want it as it is";
  const [loader] = "url" in entry ? [] : loaderVariables(Object.keys(entry.env));
  if (loader !== undefined) {
    const what = `it sets the variable ${loader.name}, which is read by ${loader.readBy} and can make programs run other code`;
    throw new TuttiError("refused", `${what}; ${instead}`);
  }
  if (isTooLong(terms))
    throw new TuttiError("refused", `its settings are too long to be shown to a person; ${instead}`);
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
