// The MCP servers of a tree: asks a person about those of a repository, finds out what each offers, and makes tools of it.

import { approvalOutcome } from "../../core/approval.ts";
import { inLine, quoted, saidBy } from "../../core/foreign-words.ts";
import { canonicalText } from "../../mcp/canonical-hash.ts";
import { expandVariables } from "../../mcp/expand-variables.ts";
import { type OfferedTool, toolHash, toolsHash } from "../../mcp/server-identity.ts";
import { invisibleNote, shownTerms } from "../../mcp/server-terms.ts";
import type { ServerPool } from "../../mcp/server-pool.ts";
import type { AgreedServer } from "../../mcp/server-tools.ts";
import type { Durable } from "../../ports.ts";
import { toTuttiError } from "../../protocol/error.ts";
import type { AgentDefinition } from "../../protocol/invocation/invocation-file.ts";
import { serverInName } from "../../protocol/invocation/mcp-servers.ts";
import { Answer } from "../../protocol/task/ask.ts";
import type { Agreement, AgreedServers, Offer } from "./agreed-servers.ts";
import type { DeclaredServer } from "./declared-servers.ts";

const offerMs = 45_000;

export interface ServerAgreement {
  readonly agreed: AgreedServers;
  readonly pool: ServerPool;
  /** Whether programs are confined on this machine. */
  readonly confined: boolean;
  readonly onWarning: (message: string) => void;
}

/** The servers that the agents of a tree name themselves, by `mcpServers` or as tools. */
export function namedServers(agents: Readonly<Record<string, AgentDefinition>>): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { mcp_servers, tools } of Object.values(agents)) {
    for (const name of Object.keys(mcp_servers ?? {})) names.add(name);
    for (const tool of tools ?? []) {
      const server = serverInName(tool);
      if (server !== undefined) names.add(server);
    }
  }
  return names;
}

/**
 * Those that may be used. About a server that nobody agreed to, a person is asked only when an agent names it or when it
 * has changed since; otherwise it is left out. A no leaves it out, too.
 */
export async function agreedServers(
  durable: Pick<Durable, "wait" | "signal">,
  servers: readonly DeclaredServer[],
  { named, roots, tree, ...parts }: ServerAgreement & { readonly named: ReadonlySet<string> } & ServerPlace,
): Promise<AgreedServer[]> {
  const found = await Promise.all(
    servers.map(async (server) => {
      if (!(await mayStart(durable, server, { ...parts, isNamed: named.has(server.name) }))) return undefined;
      const offer = await offerOf(durable, server, parts, { roots, ...(tree === undefined ? {} : { tree }) });
      return offer === undefined ? undefined : usable(server, offer, parts.agreed);
    }),
  );
  return found.filter((server) => server !== undefined);
}

interface AskedAbout {
  readonly known: Agreement | undefined;
  readonly confined: boolean;
}

async function mayStart(
  durable: Pick<Durable, "wait">,
  server: DeclaredServer,
  { agreed, isNamed, confined }: ServerAgreement & { readonly isNamed: boolean },
): Promise<boolean> {
  const { project, name, hash } = server;
  const known = agreed.find(project, name);
  if (known?.hash === hash) return !known.refused;
  if (server.asked === "never") {
    await agreed.agree(project, name, hash);
    return true;
  }
  if (server.asked === "when named" && !isNamed && (known === undefined || known.refused)) return false;
  // The key holds the hash: an answer about one content must never count for another.
  const waited = await durable.wait(`mcp.start.${hash}`, {
    ask: { kind: "approval", question: startQuestion(server, { known, confined }), details: startDetails(server) },
    schema: Answer,
  });
  const yes = approvalOutcome(waited).approved;
  if (yes) await agreed.agree(project, name, hash);
  else await agreed.refuse(project, name, hash);
  return yes;
}

function startQuestion({ name, from, terms, hash, entry }: DeclaredServer, { known, confined }: AskedAbout): string {
  const why = known === undefined ? "was never agreed to" : "has changed since you agreed to it";
  const { lines, invisible } = shownTerms(terms);
  return [
    `The MCP server ${name} of ${inLine(from)} ${why}. These are all of its settings (sha256 ${hash.slice(0, 12)}):`,
    ...[...lines, ...(invisible ? [invisibleNote] : [])].map((line) => `  | ${line}`),
    ...(confined || "url" in entry ? [] : ["This machine cannot confine it: it would run as you."]),
    "Its tools become tools of agents, with the usual approvals. May it be used from now on?",
  ].join("\n");
}

/** The settings as they were read, from which the question and the hash are made. */
function startDetails({ name, terms, hash, from, project }: DeclaredServer): Record<string, unknown> {
  return { mcp_server: name, from, project, hash, settings: terms.entry };
}

/** What the server offers, as far as a person agreed to it; undefined when it cannot be asked. */
async function offerOf(
  durable: Pick<Durable, "wait" | "signal">,
  server: DeclaredServer,
  { agreed, pool, onWarning }: ServerAgreement,
  place: ServerPlace,
): Promise<Offer | undefined> {
  const { project, name } = server;
  const known = agreed.find(project, name);
  if (known?.offer === undefined) {
    // The end of the tree was told already: a server that is started now would outlive it.
    durable.signal.throwIfAborted();
    try {
      const offer = await askServer(server, pool, place);
      for (const problem of offer.problems) onWarning(`the MCP server ${name}: ${problem}`);
      await agreed.keepOffer(project, name, offer);
      return offer;
    } catch (thrown) {
      onWarning(`the MCP server ${name} is left out: ${toTuttiError(thrown).message}`);
      return undefined;
    }
  }
  const { changed } = known;
  if (changed === undefined || known.declined.includes(toolsHash(changed.tools))) return known.offer;
  const question = changeQuestion(name, known.offer.tools, changed.tools);
  const details = { mcp_server: name, project, hash: toolsHash(changed.tools), tools: changed.tools };
  // The key names the server, too: a yes to the tools of one is none to those of another.
  const waited = await durable.wait(`mcp.tools.${server.hash}.${toolsHash(changed.tools)}`, {
    ask: { kind: "approval", question, details },
    schema: Answer,
  });
  if (approvalOutcome(waited).approved) await agreed.keepOffer(project, name, changed);
  else await agreed.declineChange(project, name);
  return agreed.find(project, name)?.offer;
}

/** For whose folders a server is asked, and in which tree; undefined when that is none. */
interface ServerPlace {
  readonly roots: readonly string[];
  readonly tree?: string;
}

export async function askServer(
  server: DeclaredServer,
  pool: ServerPool,
  { roots, tree }: ServerPlace,
): Promise<Offer & { readonly problems: readonly string[] }> {
  const { name, hash, allowed, code } = server;
  const entry = expandVariables(server.entry, { env: process.env, allowed, folder: roots[0] });
  const signal = AbortSignal.timeout(offerMs);
  const offer = await pool.use({ name, hash, entry, code, roots, tree }, signal, (connection) =>
    connection.offer(signal),
  );
  return { ...offer, tools: [...offer.tools] };
}

/** How much of the server's words is shown whole; what is more is in the details of the question. */
const longestChanges = 64_000;

/** What is new, gone or different, in the words of the server: all that models will read. */
function changesOf(before: readonly OfferedTool[], now: readonly OfferedTool[]): string[] {
  const changed = now.flatMap((tool) => {
    const { name, description, inputSchema } = tool;
    const old = before.find((each) => each.name === name);
    if (old !== undefined && toolHash(old) === toolHash(tool)) return [];
    const schema = canonicalText(inputSchema);
    const isSame = old !== undefined && canonicalText(old.inputSchema) === schema;
    return [
      saidBy(`${old === undefined ? "new" : "changed"}: ${inLine(name)}`, description),
      ...(isSame ? [] : [`arguments of ${inLine(name)}:`, quoted(schema)]),
    ];
  });
  const gone = before.filter(({ name }) => !now.some((tool) => tool.name === name));
  return [...changed, ...gone.map(({ name }) => `gone: ${inLine(name)}`)];
}

function changeQuestion(name: string, before: readonly OfferedTool[], now: readonly OfferedTool[]): string {
  const changes = changesOf(before, now).join("\n");
  const rest = changes.length - longestChanges;
  return [
    `The MCP server ${inLine(name)} offers other tools than you agreed to:`,
    changes.slice(0, longestChanges).toWellFormed(),
    ...(rest > 0 ? [`BEWARE: ${rest} more characters are hidden here; the details have all of them.`] : []),
    "May agents use them as they are now?",
  ].join("\n");
}

function usable(server: DeclaredServer, offer: Offer, agreed: AgreedServers): AgreedServer {
  const { name, entry, hash, project, onlyNamed, allowed, code } = server;
  return {
    name,
    entry,
    hash,
    code,
    onlyNamed,
    ...offer,
    expanded: (folder) => expandVariables(entry, { env: process.env, allowed, folder }),
    agreedNow: () => agreed.find(project, name)?.offer?.tools ?? [],
    onChanged: (tools) => agreed.noteOffer(project, name, { tools: [...tools] }),
  };
}
