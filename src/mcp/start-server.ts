// Starts or reaches one MCP server: finds its program, confines it where the machine can, or prepares the calls to its address.

import { randomUUID } from "node:crypto";
import { isAbsolute, join, resolve } from "node:path";

import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

import { thrownMessage, TuttiError } from "../protocol/error.ts";
import type { HttpServer, McpServerEntry, StdioServer } from "../protocol/invocation/mcp-servers.ts";
import { programOf } from "../runner/command/resolve-command.ts";
import { makeHome, ownFolders, plainEnvironment } from "../runner/shared/confined-program.ts";
import { confineSession } from "../runner/shared/sandbox/confine-session.ts";
import type { ProcessNote } from "../runner/shared/process/end-processes.ts";
import type { SandboxStatus } from "../runner/shared/sandbox/sandbox-status.ts";
import { boundedFetch, checkedUrl } from "./bounded-fetch.ts";
import { HeldTransport } from "./held-transport.ts";
import { McpConnection } from "./mcp-connection.ts";
import { oauthProvider } from "./oauth-login.ts";
import { noteProcess } from "./process-ledger.ts";

export interface ServerSurroundings {
  /** The state folder: servers cannot see it, and it keeps notes, homes and logins of servers. */
  readonly state: string;
  readonly sandbox: SandboxStatus;
  readonly toolchains: readonly string[];
  /** Told of the process of a server; awaited before the server begins. */
  readonly guard?: ((process: ProcessNote) => Promise<void>) | undefined;
}

export interface StartOptions extends ServerSurroundings {
  readonly name: string;
  /** With the values of variables. */
  readonly entry: McpServerEntry;
  /** Names the server among all projects; its home folder is kept under this name. */
  readonly hash: string;
  /** The folders of the task. */
  readonly roots: readonly string[];
}

/** Servers of this process that speak only revisions before the newest one, by their hashes. */
const legacy = new Set<string>();

export interface StartedServer {
  readonly connection: McpConnection;
  /** Ends its processes at once, without waiting. */
  readonly kill: () => void;
}

export async function startServer(options: StartOptions): Promise<StartedServer> {
  const { entry, hash } = options;
  if ("url" in entry) return startHttp(options, entry);
  if (legacy.has(hash)) return startProcess(options, entry, true);
  try {
    return await startProcess(options, entry, false);
  } catch (thrown) {
    // Some servers end when they are asked something they do not know; they get a second chance without the question.
    if (thrown instanceof TuttiError && thrown.code !== "unreachable") throw thrown;
    const started = await startProcess(options, entry, true);
    legacy.add(hash);
    return started;
  }
}

async function startProcess(options: StartOptions, entry: StdioServer, isLegacy: boolean): Promise<StartedServer> {
  const { name, state, hash, guard } = options;
  const launch = await launchOf(options, entry);
  const transport = new HeldTransport({
    ...launch,
    key: `mcp:${hash.slice(0, 12)}:${randomUUID()}`,
    async note(process) {
      const forget = await noteProcess(state, process);
      try {
        await guard?.(process);
      } catch (thrown) {
        forget();
        throw thrown;
      }
      return forget;
    },
  });
  try {
    const connection = await McpConnection.open({
      name,
      transport,
      legacy: isLegacy,
      problem: () => transport.problem,
    });
    return { connection, kill: () => transport.killNow() };
  } catch (thrown) {
    await transport.close();
    if (transport.problem !== undefined) throw transport.problem;
    const said = transport.lastErrors === "" ? thrownMessage(thrown) : transport.lastErrors;
    throw new TuttiError("unreachable", `the MCP server ${name} did not start: ${said}`, { cause: thrown });
  }
}

async function launchOf(
  { name, state, sandbox, toolchains, hash, roots }: StartOptions,
  { command, args, env, cwd, network, write }: StdioServer,
): Promise<{ readonly argv: readonly string[]; readonly cwd: string; readonly env: Record<string, string> }> {
  const home = join(state, "mcp-homes", hash.slice(0, 32));
  await makeHome(home);
  const folder = resolve(roots[0] ?? home, cwd ?? ".");
  if (!isInside(folder, [...roots, home])) {
    throw new TuttiError(
      "refused",
      `the MCP server ${name} would run in ${folder}, which is outside of the task's folders`,
    );
  }
  const plain = plainEnvironment();
  const program = await programOf(command, folder, { ...plain, ...pathOf(env) });
  const own = { ...plain, ...env, ...ownFolders(home) };
  if (!sandbox.confined) return { argv: [program, ...args], cwd: folder, env: own };
  const confined = await confineSession(
    sandbox,
    {
      cwd: folder,
      roots: write ? roots : [],
      home,
      hidden: [state],
      // What a toolchain may be, the task's folders are too: visible and not to be changed.
      toolchains: write ? toolchains : [...toolchains, ...roots],
      covered: [],
      network,
    },
    program,
  );
  return { argv: [...confined.argv, program, ...args], cwd: folder, env: { ...own, ...confined.env, ...pathOf(env) } };
}

function pathOf({ PATH }: Readonly<Record<string, string>>): Record<string, string> {
  return PATH === undefined ? {} : { PATH };
}

function isInside(folder: string, roots: readonly string[]): boolean {
  return isAbsolute(folder) && roots.some((root) => folder === root || folder.startsWith(`${root}/`));
}

async function startHttp({ name, state, hash }: StartOptions, entry: HttpServer): Promise<StartedServer> {
  const url = checkedUrl(entry.url);
  const send = boundedFetch();
  const provider = oauthProvider({ state, server: hash, url: url.href, settings: entry.oauth });
  const transport = new StreamableHTTPClientTransport(url, {
    fetch: send,
    requestInit: { headers: entry.headers },
    authProvider: provider,
    reconnectionOptions: {
      initialReconnectionDelay: 500,
      maxReconnectionDelay: 10_000,
      reconnectionDelayGrowFactor: 2,
      maxRetries: 5,
    },
  });
  try {
    const problem = (): TuttiError | undefined => (provider.wantsLogin() ? loginWanted(name) : undefined);
    const connection = await McpConnection.open({ name, transport, legacy: false, problem });
    return { connection, kill: () => void connection.close() };
  } catch (thrown) {
    await transport.close().catch(() => undefined);
    if (thrown instanceof TuttiError) throw thrown;
    if (provider.wantsLogin()) throw loginWanted(name);
    throw new TuttiError("unreachable", `the MCP server ${name} cannot be reached: ${thrownMessage(thrown)}`, {
      cause: thrown,
    });
  }
}

function loginWanted(name: string): TuttiError {
  const how = `log in with \`tutti mcp login ${name}\``;
  return new TuttiError("unauthorized", `the MCP server ${name} wants to know who you are; ${how}`);
}
