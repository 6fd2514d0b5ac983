// All tools of Tutti's own MCP server.

import type { State } from "../state/state.ts";
import { askTools } from "./ask-tools.ts";
import { goalTools } from "./goal-tools.ts";
import type { McpTool } from "./mcp-tool.ts";
import { operatorTools } from "./operator-tools.ts";
import { taskTools } from "./task-tools.ts";
import { workerTools } from "./worker-tools.ts";

export function allTools({ client, operators, workers }: Pick<State, "client" | "operators" | "workers">): McpTool[] {
  return [
    ...goalTools(client),
    ...taskTools(client),
    ...askTools(client),
    ...operatorTools({ operators, clock: Date }),
    ...workerTools(workers),
  ];
}
