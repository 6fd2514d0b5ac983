// Makes the tools that a config describes tools of its agents; their calls run in the config's own process.

import { outputCheck, type OutputCheck } from "../../agent/loop/output-schema.ts";
import type { StepTool } from "../../agent/tools/tool.ts";
import type { ToolDescription } from "./config-messages.ts";
import type { ConfigProcess } from "./config-process.ts";

export function configTool(description: ToolDescription, process: ConfigProcess): StepTool {
  const { name, parameters, effects, repeatable } = description;
  const check = checkOf(parameters);
  return {
    kind: "step",
    name,
    declaration: { name, description: description.description, parameters },
    effects,
    repeatable,
    // The tool's own schema is checked in its process; this check spares the person a question about a call that does not fit.
    prepare(input) {
      const issues = check(input);
      if (issues.length > 0) return { ok: false, issues };
      // Never confined: the project's own code may reach outside of the task's folders.
      const effect = { effects, confined: false };
      return { ok: true, effect, run: (context) => process.call({ ...description, of: "tools" }, input, context) };
    },
  };
}

function checkOf(parameters: Readonly<Record<string, unknown>>): OutputCheck {
  try {
    return outputCheck(parameters);
  } catch {
    return () => [];
  }
}
