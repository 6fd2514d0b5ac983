// Warns about tools in agent definitions that are not built in: unless the config or a client provides them, the agent cannot run.

import type { LoadedDefinitions } from "../../agent/definition/agent-folders.ts";
import { builtinTools } from "../../agent/agent-environment.ts";
import { reservedToolNames } from "../../agent/tools/loop-tools.ts";

/** A warning and not an error, because the project's config or the client may provide the tool; neither is known here. */
export function withToolWarnings(loaded: LoadedDefinitions): LoadedDefinitions {
  const known = new Set<string>([...reservedToolNames, "run", ...builtinTools.map((tool) => tool.name)]);
  const problems = loaded.agents.flatMap(({ file, definition }) => {
    const unknown = (definition.tools ?? []).filter((tool) => !known.has(tool));
    if (unknown.length === 0) return [];
    const message = `no tool ${unknown.join(", ")} is built in; the project's config or a client must provide it`;
    return [{ file, line: 1, level: "warning" as const, message }];
  });
  return { ...loaded, problems: [...loaded.problems, ...problems] };
}
