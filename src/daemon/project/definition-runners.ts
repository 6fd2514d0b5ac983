// Checks the runners that agent definitions name: whether such a runner is built in, and whether it can use its config.

import type { LoadedDefinitions } from "../../agent/definition/agent-folders.ts";
import { toTuttiError } from "../../protocol/error.ts";
import { builtinRunners } from "../../protocol/invocation/runner-kinds.ts";
import { checkRunnerConfig } from "../../runner/invocation/check-invocation.ts";

/** An unknown kind is a warning, because the project's config may register it, and that is not known here. */
export function withRunnerProblems(loaded: LoadedDefinitions): LoadedDefinitions {
  const problems = loaded.agents.flatMap(({ file, definition: { runner } }): LoadedDefinitions["problems"] => {
    if (runner === undefined) return [];
    if (!builtinRunners.some(({ kind }) => kind === runner.kind)) {
      const message = `no runner ${runner.kind} is built in; the project's config must register it`;
      return [{ file, line: 1, level: "warning", message }];
    }
    const message = problemOf(runner);
    return message === undefined ? [] : [{ file, line: 1, level: "error", message }];
  });
  return { ...loaded, problems: [...loaded.problems, ...problems] };
}

function problemOf(runner: Parameters<typeof checkRunnerConfig>[0]): string | undefined {
  try {
    checkRunnerConfig(runner);
    return undefined;
  } catch (thrown) {
    return toTuttiError(thrown).message;
  }
}
