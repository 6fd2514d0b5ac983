// The MCP servers that a config which is data declares, as they are shown to whoever is asked about the config.

import { z } from "zod";

import { escapeInvisible } from "../../core/escape-invisible.ts";
import { type ConfigFiles, isData, readConfigJson } from "./config-files.ts";
import { declaredServers, projectConfig } from "./declared-servers.ts";
import { McpServers } from "../../protocol/invocation/mcp-servers.ts";
import { invisibleNote, shownTerms } from "../../mcp/server-terms.ts";

const Declaring = z.looseObject({ mcpServers: McpServers.default(() => ({})) });

/** None for a config that is code: it must run to tell. One that cannot be used declares nothing. */
export function configServers(files: ConfigFiles): string[] {
  if (!isData(files)) return [];
  const read = readConfigJson(files);
  const declaring = read.ok ? Declaring.safeParse(read.value) : undefined;
  if (declaring?.success !== true) return [];
  const { servers, problems } = declaredServers({
    user: {},
    variables: [],
    config: declaring.data.mcpServers,
    project: files.folder,
    agents: {},
  });
  const shown = servers
    .filter(({ from }) => from === projectConfig)
    .flatMap(({ name, terms }) => {
      const { lines, invisible } = shownTerms(terms);
      return [name, ...[...lines, ...(invisible ? [invisibleNote] : [])].map((line) => `  ${line}`)];
    });
  return [...shown, ...problems.filter((each) => each.startsWith(projectConfig)).map(escapeInvisible)];
}
