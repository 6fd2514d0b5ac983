// Warns of tools a definition lists that nothing here provides: the agent would be refused when it is run.

import type { LoadedDefinitions } from "../../agent/definition/agent-folders.ts";
import { builtinTools } from "../../agent/agent-environment.ts";
import { loopTools } from "./build-environment.ts";

/** Tools of the project's config and of a client are not known here, so it is a warning. */
export function withToolProblems(loaded: LoadedDefinitions): LoadedDefinitions {
  const known = new Set([...loopTools, "run", ...builtinTools.map((tool) => tool.name)]);
  const problems = loaded.agents.flatMap(({ file, definition }) => {
    const missing = (definition.tools ?? []).filter((tool) => !known.has(tool));
    if (missing.length === 0) return [];
    const message = `no tool ${missing.join(", ")} is built in; the project's config or a client must bring it`;
    return [{ file, line: 1, level: "warning" as const, message }];
  });
  return { ...loaded, problems: [...loaded.problems, ...problems] };
}
