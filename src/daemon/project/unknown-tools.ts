// Warns about tools in agent definitions that are not built in: unless the config or a client provides them, the agent cannot run.

import type { LoadedDefinitions } from "../../agent/definition/agent-folders.ts";
import { builtinTools } from "../../agent/agent-environment.ts";
import { serverInName } from "../../protocol/invocation/mcp-servers.ts";
import { reservedToolNames } from "../../agent/tools/loop-tools.ts";

/** A warning and not an error, because the project's config or the client may provide the tool; neither is known here. */
export function withToolWarnings(loaded: LoadedDefinitions): LoadedDefinitions {
  const known = new Set<string>([...reservedToolNames, "run", ...builtinTools.map((tool) => tool.name)]);
  const problems = loaded.agents.flatMap(({ file, definition }) => {
    const unknown = (definition.tools ?? []).filter((tool) => !known.has(tool));
    const ofServers = unknown.filter((tool) => serverInName(tool) !== undefined);
    const others = unknown.filter((tool) => !ofServers.includes(tool));
    const warn = (message: string) => ({ file, line: 1, level: "warning" as const, message });
    return [
      ...(others.length === 0
        ? []
        : [warn(`no tool ${others.join(", ")} is built in; the project's config or a client must provide it`)]),
      ...(ofServers.length === 0
        ? []
        : [warn(`${ofServers.join(", ")} must be of an MCP server of the project; \`tutti mcp list\` lists them`)]),
    ];
  });
  return { ...loaded, problems: [...loaded.problems, ...problems] };
}
