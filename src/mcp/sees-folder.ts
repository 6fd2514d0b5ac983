// Whether a server of a repository sees the task's folders: only when its settings say that it needs them.

import type { StdioServer } from "../protocol/invocation/mcp-servers.ts";
import { folderVariable, variableNames } from "./expand-variables.ts";

export function seesFolder(entry: StdioServer): boolean {
  return entry.write || variableNames(entry).includes(folderVariable);
}
