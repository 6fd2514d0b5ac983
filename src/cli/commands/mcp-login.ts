// `tutti mcp login`: logs in at an MCP server that asks who you are. What the server gives is kept in the state folder.
import type { Host } from "../../host/host.ts";
import { givenFolder } from "../given-folder.ts";
import { stateFolder } from "../state-folder.ts";
import { note, writeJson, writeLine } from "../terminal/screen.ts";
import { printable } from "../terminal/printable.ts";
import { dim } from "../terminal/style.ts";

export interface McpLoginOptions {
  readonly state?: string;
  readonly cwd?: string;
  readonly json?: boolean;
}

const loginMs = 10 * 60_000;

export async function mcpLoginCommand(
  host: Host,
  name: string | undefined,
  { state, cwd, json }: McpLoginOptions,
): Promise<void> {
  const project = await host.openProject(givenFolder(cwd), { state: stateFolder(state) });
  if (name === undefined) {
    const servers = (await project.servers()).servers.filter(({ login }) => login !== null);
    if (json === true) return writeJson(servers.map(({ name: server, login }) => ({ server, logged_in: login })));
    if (servers.length === 0) return writeLine("there is no MCP server here that one could log in to");
    for (const { name: server, login } of servers)
      await writeLine(`${server} ${dim(login === true ? "logged in" : "no login")}`);
    return;
  }
  await project.logInServer(name, {
    signal: AbortSignal.timeout(loginMs),
    onUrl: async (url) => note(`open this address in your browser, on this machine:\n${printable(url)}`),
  });
  if (json === true) return writeJson({ server: name, logged_in: true });
  await writeLine(`logged in at ${name}`);
}
