// Where the logins at MCP servers are kept: one private file of the state folder for each server.

import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";

import { readPrivateFile, replacePrivateFile } from "../files/private-file.ts";

/** Named by the hash of the server's settings: a server that moves elsewhere does not get the tokens. */
const fileOf = (state: string, server: string): string => join(state, "mcp-logins", `${server.slice(0, 32)}.json`);

export function readLogin(state: string, server: string): string | undefined {
  return readPrivateFile(fileOf(state, server));
}

export function keepLogin(state: string, server: string, text: string): void {
  mkdirSync(join(state, "mcp-logins"), { recursive: true, mode: 0o700 });
  replacePrivateFile(fileOf(state, server), text);
}

export function hasLogin(state: string, server: string): boolean {
  return existsSync(fileOf(state, server));
}

/** False when there was no login. */
export function forgetLogin(state: string, server: string): boolean {
  const had = hasLogin(state, server);
  rmSync(fileOf(state, server), { force: true });
  return had;
}
