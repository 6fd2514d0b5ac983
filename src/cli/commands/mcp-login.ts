// `tutti mcp login`: logs in at an MCP server that asks who you are. What the server gives is kept in the state folder.
import type { Host } from "../../host/host.ts";
import type { LoginQuestion } from "../../host/project.ts";
import { TuttiError } from "../../protocol/error.ts";
import { givenFolder } from "../given-folder.ts";
import { stateFolder } from "../state-folder.ts";
import { isYes } from "../terminal/question-text.ts";
import { note, writeJson, writeLine } from "../terminal/screen.ts";
import { printable, printableName } from "../terminal/printable.ts";
import { dim } from "../terminal/style.ts";
import { canPrompt, prompt } from "../terminal/terminal-prompt.ts";

export interface McpLoginOptions {
  readonly issuer?: string;
  readonly state?: string;
  readonly cwd?: string;
  readonly json?: boolean;
}

const loginMs = 10 * 60_000;

export async function mcpLoginCommand(
  host: Host,
  name: string | undefined,
  { issuer, state, cwd, json }: McpLoginOptions,
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
  const signal = AbortSignal.timeout(loginMs);
  await project.logInServer(name, {
    signal,
    ...(issuer === undefined ? {} : { issuer }),
    confirm: async (question) => confirm(question, name, signal),
    onUrl: async (url) => note(`open this address in your browser, on this machine:\n${printable(url)}`),
  });
  if (json === true) return writeJson({ server: name, logged_in: true });
  await writeLine(`logged in at ${name}`);
}

/** The server names where to log in, so a person has to say whether that is right. */
async function confirm(
  { server, issuer, endpoints }: LoginQuestion,
  name: string,
  signal: AbortSignal,
): Promise<boolean> {
  if (!canPrompt()) {
    const how = `if that is right, run \`tutti mcp login ${name} --issuer ${printableName(issuer)}\``;
    throw new TuttiError("needs_input", `${server} sends your login to ${printableName(issuer)}; ${how}`);
  }
  const lines =
    endpoints === undefined
      ? [`${server} sends your login to another server:`, `  issuer        ${printableName(issuer)}`]
      : [
          "The issuer has its endpoints at other servers:",
          `  issuer        ${printableName(issuer)}`,
          `  your browser  ${printableName(endpoints.authorization)}`,
          `  tokens        ${printableName(endpoints.token)}`,
          ...(endpoints.registration === undefined ? [] : [`  registration  ${printableName(endpoints.registration)}`]),
        ];
  return isYes(await prompt([...lines, "Log in there? y, or n (or Enter) for no: "].join("\n"), { signal }));
}
