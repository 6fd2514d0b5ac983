// The error for an agent that does not exist: it says what is wrong with the agent's file, or which agents there are.

import { TuttiError } from "../../protocol/error.ts";
import type { LoadedDefinitions } from "./agent-folders.ts";

/** `others` are the names of agents that are not in `loaded`. */
export function missingAgent(
  { agents, problems }: LoadedDefinitions,
  name: string,
  others: readonly string[] = [],
): TuttiError {
  const broken = problems.find((problem) => problem.level === "error" && problem.file.endsWith(`/${name}.md`));
  if (broken !== undefined) {
    const message = `${broken.file}:${broken.line}: ${broken.message}; so there is no agent ${name}`;
    return new TuttiError("invalid_input", message);
  }
  const known = [...others, ...agents.map((agent) => agent.name)].join(", ");
  const there = known === "" ? "there are none; make one with `tutti agents new NAME`" : `there are: ${known}`;
  return new TuttiError("not_found", `there is no agent ${name}; ${there}`);
}
