// The MCP servers that a program declares in its own code: started when it opens Tutti, their tools as they are offered then.

import { statSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";

import { expandVariables } from "../../mcp/expand-variables.ts";
import { openServerPool, type ServerPool } from "../../mcp/server-pool.ts";
import { type AgreedServer, serverTools } from "../../mcp/server-tools.ts";
import type { StepTool } from "../../agent/tools/tool.ts";
import { TuttiError } from "../../protocol/error.ts";
import { McpServers } from "../../protocol/invocation/mcp-servers.ts";
import { describeIssues, issuesOf } from "../../protocol/lenient-read.ts";
import { probeSandbox } from "../../runner/shared/sandbox/sandbox-status.ts";
import { declaredServers } from "./declared-servers.ts";
import { askServer } from "./project-servers.ts";

export interface ProgramServers {
  readonly tools: readonly StepTool[];
  close(): void;
}

/** Whoever writes a server into their program agrees to it. A tool that changes while the program runs is not called any more. */
export async function openProgramServers(given: unknown, state: string): Promise<ProgramServers> {
  const read = McpServers.safeParse(given);
  if (!read.success) {
    throw new TuttiError("invalid_input", `mcpServers cannot be used: ${describeIssues(issuesOf(read.error))}`);
  }
  const sandbox = await probeSandbox();
  const { servers } = declaredServers({ user: read.data, variables: [], config: {}, project: undefined, agents: {} });
  const toolchains = servers.flatMap(({ entry }) => ("command" in entry ? entry.args.flatMap(packageOfFile) : []));
  const pool = openServerPool({ state, sandbox, toolchains });
  try {
    const agreed = await Promise.all(
      servers.map(async (server): Promise<AgreedServer> => {
        const { name, entry, hash, allowed } = server;
        const { problems: _, ...offer } = await askServer(server, pool, { roots: [] });
        return {
          name,
          entry,
          hash,
          onlyNamed: false,
          ...offer,
          expanded: (folder) => expandVariables(entry, { env: process.env, allowed, folder }),
          agreedNow: () => offer.tools,
          onChanged: async () => undefined,
        };
      }),
    );
    // The servers are the program's: they serve all of its runs, and end with it.
    const shared: ServerPool = { ...pool, use: ({ tree: _tree, ...wanted }, ...rest) => pool.use(wanted, ...rest) };
    return { tools: serverTools(agreed, { pool: shared, confined: sandbox.confined }), close: () => pool.close() };
  } catch (thrown) {
    pool.close();
    throw thrown;
  }
}

/** A server that is a file of the program's own package reads that package, also in a home folder, which is hidden otherwise. */
function packageOfFile(argument: string): string[] {
  const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  if (!isAbsolute(argument) || !isFile(argument)) return [];
  const own = dirname(argument);
  for (let folder = own; dirname(folder) !== folder; folder = dirname(folder)) {
    if (isFile(join(folder, "package.json"))) return [folder];
  }
  return [own];
}
