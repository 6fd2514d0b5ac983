// `tutti mcp list`: the MCP servers whose tools agents may have, and whether they are trusted. Starts nothing.
import type { Host } from "../../host/host.ts";
import { givenFolder } from "../given-folder.ts";
import { stateFolder } from "../state-folder.ts";
import { writeJson, writeLine } from "../terminal/screen.ts";
import { showServers } from "../terminal/server-lines.ts";

export interface McpListOptions {
  readonly state?: string;
  readonly cwd?: string;
  readonly json?: boolean;
}

export async function mcpListCommand(host: Host, { state, cwd, json }: McpListOptions): Promise<void> {
  const project = await host.openProject(givenFolder(cwd), { state: stateFolder(state) });
  const shown = await project.servers();
  if (json === true) return writeJson(shown);
  if (shown.servers.length + shown.problems.length === 0) return writeLine("there are no MCP servers here");
  await showServers(shown);
}
