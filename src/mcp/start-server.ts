// Starts or reaches one MCP server: finds its program, confines it where the machine can, or prepares the calls to its address.

import { randomUUID } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { isAbsolute, join, resolve } from "node:path";

import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

import { thrownMessage, TuttiError } from "../protocol/error.ts";
import type { HttpServer, McpServerEntry, StdioServer } from "../protocol/invocation/mcp-servers.ts";
import { programOf } from "../runner/command/resolve-command.ts";
import { keptEnvironment, keptPlaces, makeHome, ownFolders } from "../runner/shared/confined-program.ts";
import { confineSession } from "../runner/shared/sandbox/confine-session.ts";
import type { ProcessNote } from "../runner/shared/process/end-processes.ts";
import type { SandboxStatus } from "../runner/shared/sandbox/sandbox-status.ts";
import { checkedUrl } from "./bounded-fetch.ts";
import { HeldTransport, type ServerLaunch } from "./held-transport.ts";
import { McpConnection } from "./mcp-connection.ts";
import { type KeptLogin, oauthProvider } from "./oauth-provider.ts";
import { noteProcess } from "./process-ledger.ts";
import type { Resolve } from "./reached-addresses.ts";
import { serverFetch } from "./server-fetch.ts";
import { copyOfCode, inCopy, namesLivePath, pathInside, type ServerCode } from "./server-code.ts";

export interface ServerSurroundings {
  /** The state folder: servers cannot see it, and it keeps notes, homes and logins of servers. */
  readonly state: string;
  readonly sandbox: SandboxStatus;
  readonly toolchains: readonly string[];
  /** Told of the process of a server; awaited before the server begins. */
  readonly guard?: ((process: ProcessNote) => Promise<void>) | undefined;
  /** Looks up the names of servers elsewhere; the system's own when absent. */
  readonly resolve?: Resolve | undefined;
}

export interface StartOptions extends ServerSurroundings {
  readonly name: string;
  /** With the values of variables. */
  readonly entry: McpServerEntry;
  /** Names the server among all projects; its home folder is kept under this name. */
  readonly hash: string;
  /** The folders of the task. */
  readonly roots: readonly string[];
  /** Of the server of a repository: what it is started from. */
  readonly code?: StartCode | undefined;
}

/** A person agreed to these files, and nothing else of the repository is run. */
export interface StartCode extends ServerCode {
  /** Whether the server sees the task's folders, as its settings say. */
  readonly seesFolders: boolean;
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
    throw new TuttiError("unreachable", `the MCP server ${name} did not start: ${said}${codeHint(options)}`, {
      cause: thrown,
    });
  }
}

async function launchOf(
  options: StartOptions,
  given: StdioServer,
): Promise<Pick<ServerLaunch, "program" | "launcher" | "cwd">> {
  const { state, sandbox, toolchains, hash, roots } = options;
  const home = join(state, "mcp-homes", hash.slice(0, 32));
  await makeHome(home);
  const place =
    options.code === undefined ? ownPlace(options, given, home) : await codePlace(options, given, options.code);
  const { folder, visible, hidden } = place;
  const { command, args, env, network, write } = place.entry;
  const plain = keptEnvironment();
  const program = await programOf(command, folder, { ...keptPlaces(), ...pathOf(env) });
  const own = { ...plain, ...env, ...ownFolders(home) };
  if (!sandbox.confined) return { program: { argv: [program, ...args], env: own }, launcher: undefined, cwd: folder };
  const { launcher, env: confined } = await confineSession(
    sandbox,
    {
      cwd: folder,
      roots: write ? roots : [],
      home,
      hidden: [state, ...hidden],
      // What a toolchain may be, these are too: visible and not to be changed.
      toolchains: [...toolchains, ...visible],
      covered: [],
      network,
      path: plain["PATH"],
    },
    program,
  );
  // The variables of the server are for the server: what confines it does not see them.
  const all = { ...own, ...confined, ...pathOf(env) };
  return { program: { argv: [program, ...args], env: all }, launcher, cwd: folder };
}

interface LaunchPlace {
  readonly entry: StdioServer;
  readonly folder: string;
  /** Folders that it may read. */
  readonly visible: readonly string[];
  /** Folders that it must not see. */
  readonly hidden: readonly string[];
}

function codeHint({ code }: StartOptions): string {
  if (code === undefined) return "";
  return "; it is started from a copy of the files that were agreed to, and its field files can name further ones";
}

/**
 * A server that the person declared works in a folder of its own, unless its settings say otherwise: package runners and
 * interpreters run what the folder that they are started in says, and the server has secrets of the person.
 */
function ownPlace({ name, roots }: StartOptions, entry: StdioServer, home: string): LaunchPlace {
  const folder = entry.cwd === undefined ? home : resolve(roots[0] ?? home, entry.cwd);
  if (!isInside(folder, [...roots, home])) throw outside(name, folder, "the task's folders");
  return { entry, folder, visible: entry.write ? [] : roots, hidden: [] };
}

/**
 * A repository's server works in a copy of what was agreed to, so that nothing which a session writes into its folder is run
 * in place of it. It does not even see the folders unless its settings, which were agreed to, say so.
 */
async function codePlace(
  { name, state, sandbox, roots }: StartOptions,
  given: StdioServer,
  code: StartCode,
): Promise<LaunchPlace> {
  const copy = await copyOfCode(state, code);
  const entry = inCopy(given, { code, copy, roots });
  const { project } = code;
  const within = entry.cwd ?? ".";
  const below = project !== undefined && isAbsolute(within) ? pathInside(project, within) : within;
  const folder = resolve(copy, below ?? within);
  if (!isInside(folder, [copy])) throw outside(name, folder, "the project");
  await mkdir(folder, { recursive: true });
  const live = [...(project === undefined ? [] : [project]), ...roots];
  if (!sandbox.confined && (code.seesFolders || namesLivePath(entry, live))) {
    const what = `the MCP server ${name} of a repository works in folders whose files can change after your yes`;
    const why = "this machine cannot confine it";
    throw new TuttiError(
      "refused",
      `${what}, and ${why}; declare it in ~/.tutti/tutti.config.json if it may run as you`,
    );
  }
  if (code.seesFolders) return { entry, folder, visible: entry.write ? [copy] : [copy, ...roots], hidden: [] };
  return { entry, folder, visible: [copy], hidden: live };
}

function outside(name: string, folder: string, what: string): TuttiError {
  return new TuttiError("refused", `the MCP server ${name} would run in ${folder}, which is outside of ${what}`);
}

function pathOf({ PATH }: Readonly<Record<string, string>>): Record<string, string> {
  return PATH === undefined ? {} : { PATH };
}

function isInside(folder: string, roots: readonly string[]): boolean {
  return isAbsolute(folder) && roots.some((root) => folder === root || folder.startsWith(`${root}/`));
}

async function startHttp({ name, state, hash, resolve }: StartOptions, entry: HttpServer): Promise<StartedServer> {
  const url = checkedUrl(entry.url);
  const provider = oauthProvider({ state, server: hash, url: url.href, settings: entry.oauth });
  const send = serverFetch({
    server: url,
    resolve,
    refuses: (to, method) => (isConfirmed(to, method, { provider, entry }) ? undefined : notConfirmed(name, to)),
  });
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

/** Nobody watches: besides the server itself only what a person named, or confirmed when they logged in, may be asked. */
function isConfirmed(
  to: URL,
  method: string,
  { provider, entry }: { readonly provider: KeptLogin; readonly entry: HttpServer },
): boolean {
  const endpoint = provider.tokenEndpoint();
  if (endpoint !== undefined) return method === "POST" && to.href === new URL(endpoint).href;
  const { issuer } = entry.oauth ?? {};
  return issuer !== undefined && to.origin === checkedUrl(issuer).origin;
}

function notConfirmed(name: string, { origin }: URL): TuttiError {
  const how = `log in with \`tutti mcp login ${name}\`, which shows where the login goes`;
  return new TuttiError(
    "unauthorized",
    `the MCP server ${name} names ${origin} for its login, which nobody confirmed; ${how}`,
  );
}

function loginWanted(name: string): TuttiError {
  const how = `log in with \`tutti mcp login ${name}\``;
  return new TuttiError("unauthorized", `the MCP server ${name} wants to know who you are; ${how}`);
}
