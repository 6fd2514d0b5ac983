// `tutti mcp`: an MCP server on standard input and output, for programs that start their servers themselves.
import { resolve } from "node:path";

import type { Host } from "../../host/host.ts";
import type { KeyRole } from "../../protocol/api/service.ts";
import { TuttiError } from "../../protocol/error.ts";
import { bridgeMcp } from "../mcp-bridge.ts";
import { stateFolder } from "../state-folder.ts";
import { writeExactLine } from "../terminal/screen.ts";

export interface McpOptions {
  readonly state?: string;
  readonly cwd?: string;
  readonly role: KeyRole;
}

/** The work is a daemon's: it goes on when the program that started this server has ended. */
export async function mcpCommand(host: Host, { state, cwd, role }: McpOptions): Promise<void> {
  const folder = stateFolder(state);
  const here = resolve(cwd ?? ".");
  if (host.remote === undefined && (await host.findDaemon(folder)) === undefined) {
    await host.startDaemon({ state: folder, from: here });
  }
  const send = await host.daemonFetch(folder);
  if (send === undefined)
    throw new TuttiError("unreachable", `no daemon works on ${folder}; ${folder}/daemon.log may say why`);
  const headers = { "tutti-role": role, ...(host.remote === undefined ? { "tutti-folder": here } : {}) };
  await bridgeMcp({ send, headers, input: process.stdin, write: writeExactLine });
}
