// `tutti mcp logout`: forgets the login at an MCP server, or all of them.
import type { Host } from "../../host/host.ts";
import type { Project } from "../../host/project.ts";
import { givenFolder } from "../given-folder.ts";
import { stateFolder } from "../state-folder.ts";
import { writeJson, writeLine } from "../terminal/screen.ts";
import type { McpLoginOptions } from "./mcp-login.ts";

export async function mcpLogoutCommand(
  host: Host,
  name: string | undefined,
  { state, cwd, json }: McpLoginOptions,
): Promise<void> {
  const project = await host.openProject(givenFolder(cwd), { state: stateFolder(state) });
  const names = name === undefined ? await loggedIn(project) : [name];
  const forgotten: string[] = [];
  for (const each of names) if (await project.logOutServer(each)) forgotten.push(each);
  if (json === true) return writeJson({ forgotten });
  await writeLine(forgotten.length === 0 ? "there was no login" : `forgotten: the login at ${forgotten.join(", ")}`);
}

async function loggedIn(project: Project): Promise<string[]> {
  return (await project.servers()).servers.flatMap(({ name, login }) => (login === true ? [name] : []));
}
