// What commands show of a project's MCP servers and do with them: look, agree, log in. Looking starts nothing.

import { homedir } from "node:os";

import type { LoadedDefinitions } from "../../agent/definition/agent-folders.ts";
import type { Finding, ServerLogin, ServersView, ServerView, TriedServer } from "../../host/project.ts";
import { expandVariables } from "../../mcp/expand-variables.ts";
import { forgetLogin, hasLogin } from "../../mcp/kept-logins.ts";
import { toolsHash } from "../../mcp/server-identity.ts";
import { type ServerTerms, shownTerms } from "../../mcp/server-terms.ts";
import { openServerPool } from "../../mcp/server-pool.ts";
import { toTuttiError, TuttiError } from "../../protocol/error.ts";
import { probeSandbox } from "../../runner/shared/sandbox/sandbox-status.ts";
import { type Agreement, openAgreedServers } from "./agreed-servers.ts";
import { type Declared, type DeclaredServer, declaredServers, ownConfig } from "./declared-servers.ts";
import { effectiveConfig } from "./effective-config.ts";
import { askServer } from "./project-servers.ts";
import { loadUserConfig } from "./user-config.ts";

export interface ServerSubject {
  readonly project: string;
  readonly state: string;
  readonly agents: () => Promise<Pick<LoadedDefinitions, "agents">>;
}

async function declared({ project, state, agents }: ServerSubject): Promise<Declared> {
  const user = await loadUserConfig(homedir());
  const { own } = await effectiveConfig(project, state);
  const definitions = (await agents()).agents.map(({ name, definition }) => [name, definition] as const);
  return declaredServers({
    user: user.mcpServers,
    variables: user.mcpVariables,
    config: own?.mcpServers ?? {},
    project,
    agents: Object.fromEntries(definitions),
  });
}

export async function viewServers(subject: ServerSubject): Promise<ServersView> {
  const { servers, problems } = await declared(subject);
  const agreed = openAgreedServers(subject.state);
  return {
    servers: servers.map((server) => ({
      ...viewOf(server, agreed.find(server.project, server.name)),
      login: "url" in server.entry ? hasLogin(subject.state, server.hash) : null,
    })),
    problems,
  };
}

function viewOf(server: DeclaredServer, known: Agreement | undefined): Omit<ServerView, "login"> {
  const { name, from, hash, asked } = server;
  const isKnown = known?.hash === hash;
  const shown = isKnown ? (known.changed ?? known.offer) : undefined;
  const { lines, invisible } = shownTerms(viewedTerms(server));
  return {
    name,
    from,
    hash,
    settings: lines,
    invisible,
    state: stateOf(known, { isKnown, asked }),
    tools: shown?.tools.map(({ name: tool, description }) => ({ name: tool, description })) ?? null,
  };
}

const hidden = "(not shown: it is in your own config)";

/** In the person's own config values may be secrets of theirs, and nobody is asked about them. */
function viewedTerms({ terms, from }: DeclaredServer): ServerTerms {
  if (from !== ownConfig) return terms;
  const withoutValues = (texts: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, text.includes("${") ? text : hidden]));
  const { name, entry } = terms;
  if (!("url" in entry)) return { name, entry: { ...entry, env: withoutValues(entry.env) } };
  const { oauth } = entry;
  const secret = oauth?.client_secret === undefined ? {} : { client_secret: hidden };
  const login = oauth === undefined ? {} : { oauth: { ...oauth, ...secret } };
  return { name, entry: { ...entry, headers: withoutValues(entry.headers), ...login } };
}

function stateOf(
  known: Agreement | undefined,
  { isKnown, asked }: { readonly isKnown: boolean } & Pick<DeclaredServer, "asked">,
): ServerView["state"] {
  if (known !== undefined && isKnown) {
    if (known.refused) return "refused";
    const { changed, declined } = known;
    return changed !== undefined && !declined.includes(toolsHash(changed.tools)) ? "tools changed" : "trusted";
  }
  if (asked === "never") return "trusted";
  return known === undefined || known.refused ? "not trusted" : "changed";
}

/** Records the agreement to each server as it was shown, starts it, and keeps what it offers. One that fails stays agreed to. */
export async function trustServers(subject: ServerSubject, shown: ServersView): Promise<TriedServer[]> {
  const { servers } = await declared(subject);
  const agreed = openAgreedServers(subject.state);
  const { acp } = await loadUserConfig(homedir());
  const sandbox = await probeSandbox();
  const pool = openServerPool({ state: subject.state, sandbox, toolchains: acp.toolchains });
  try {
    return await Promise.all(
      shown.servers.map(async ({ name, hash }): Promise<TriedServer> => {
        const server = servers.find((each) => each.name === name && each.hash === hash);
        if (server === undefined)
          throw new TuttiError("conflict", `the server ${name} has just changed; look at it again`);
        await agreed.agree(server.project, name, hash);
        try {
          const { problems, ...offer } = await askServer(server, pool, { roots: [subject.project] });
          await agreed.keepOffer(server.project, name, offer);
          return {
            name,
            tools: offer.tools.map((tool) => ({ name: tool.name, description: tool.description })),
            problems,
          };
        } catch (thrown) {
          return { name, tools: null, problems: [toTuttiError(thrown).message] };
        }
      }),
    );
  } finally {
    pool.close();
  }
}

/** Throws `not_found` for a name that no server has, and `refused` for one that is not agreed to or that is a program. */
export async function logInServer(subject: ServerSubject, name: string, options: ServerLogin): Promise<void> {
  const { server, entry } = await callable(subject, name);
  const { checkedUrl } = await import("../../mcp/bounded-fetch.ts");
  const { logIn } = await import("../../mcp/oauth-login.ts");
  const url = checkedUrl(entry.url).href;
  await logIn({ state: subject.state, server: server.hash, url, settings: entry.oauth }, options);
}

export async function logOutServer(subject: ServerSubject, name: string): Promise<boolean> {
  const { server } = await callable(subject, name);
  return forgetLogin(subject.state, server.hash);
}

async function callable(subject: ServerSubject, name: string) {
  const { servers } = await declared(subject);
  const server = servers.find((each) => each.name === name);
  if (server === undefined) {
    const names = servers.map((each) => each.name).join(", ") || "none";
    throw new TuttiError("not_found", `there is no MCP server ${name}; there are: ${names}`);
  }
  const known = openAgreedServers(subject.state).find(server.project, name);
  if (server.asked !== "never" && (known?.hash !== server.hash || known.refused)) {
    throw new TuttiError(
      "refused",
      `the server ${name} is not trusted; look at it with \`tutti trust --servers --show\``,
    );
  }
  const entry = expandVariables(server.entry, {
    env: process.env,
    allowed: server.allowed,
    folder: subject.project,
  });
  if (!("url" in entry))
    throw new TuttiError("refused", `the server ${name} is a program; there is nothing to log in to`);
  return { server, entry };
}

/** No finding without a server. */
export async function checkServers(subject: ServerSubject): Promise<Finding[]> {
  const what = "mcp";
  try {
    const { servers, problems } = await viewServers(subject);
    const findings = problems.map((said): Finding => ({ what, state: "warn", said, todo: "correct it" }));
    if (servers.length === 0) return findings;
    const said = servers.map(({ name, state, tools }) => {
      if (state !== "trusted") return `${name} (${state})`;
      return tools === null ? `${name} (never started)` : `${name} (${tools.length} tools)`;
    });
    const isFine = servers.every(({ state }) => state === "trusted" || state === "refused");
    const finding: Finding = isFine
      ? { what, state: "ok", said: said.join(", ") }
      : { what, state: "warn", said: said.join(", "), todo: "see `tutti trust --servers --show`" };
    return [finding, ...findings];
  } catch (thrown) {
    return [{ what, state: "warn", said: toTuttiError(thrown).message, todo: "see `tutti mcp list`" }];
  }
}
