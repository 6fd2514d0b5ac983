// Loads and validates a config, `tutti.config.{ts,js,mjs,json}`, with errors that name the file and the field.

import { z } from "zod";

import { builtinTools } from "../../agent/agent-environment.ts";
import { loopToolNames } from "../../agent/tools/loop-tools.ts";
import type { StepTool } from "../../agent/tools/tool.ts";
import { readUserTools } from "../../agent/tools/user-tools.ts";
import { ModelsConfig } from "../../model/models-config.ts";
import { ApprovalRules } from "../../protocol/invocation/approval-policy.ts";
import { thrownMessage, TuttiError } from "../../protocol/error.ts";
import { issuesOf, describeIssues } from "../../protocol/lenient-read.ts";
import type { ConfigFiles } from "./config-files.ts";
import { ConfigProcess } from "./config-process.ts";
import { configTool } from "./config-tools.ts";

const Config = z.strictObject({
  models: ModelsConfig.default(() => ModelsConfig.parse({})),
  approvals: ApprovalRules.optional(),
  /** Used, and validated, only in the user's own config. */
  notifications: z.unknown().optional(),
  /** Validated where they are made into tools (`readUserTools`). */
  tools: z.array(z.unknown()).default(() => []),
});
export type Config = z.infer<typeof Config>;

export interface LoadedConfig {
  /** Undefined when there is no config. */
  readonly file: string | undefined;
  readonly config: Config;
  readonly tools: readonly StepTool[];
  /** The process its tools run in; undefined when it is no code. */
  readonly process: ConfigProcess | undefined;
}

const takenNames = [...loopToolNames, "run", ...builtinTools.map((tool) => tool.name)];

/** The caller has made sure that the files may be used: a config that is code is executed, in a process of its own. */
export async function loadConfig(files: ConfigFiles | undefined): Promise<LoadedConfig> {
  if (files === undefined) return { file: undefined, config: Config.parse({}), tools: [], process: undefined };
  if (files.file.endsWith(".json")) return loadJson(files);
  const process = new ConfigProcess(files, { taken: takenNames });
  try {
    const { config, tools, issues } = await process.load();
    const parsed = parseConfig(files.file, config);
    refuseTools(issues);
    return { file: files.file, config: parsed, tools: tools.map((tool) => configTool(tool, process)), process };
  } catch (thrown) {
    process.close();
    throw thrown;
  }
}

function loadJson({ file, text }: ConfigFiles): LoadedConfig {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (thrown) {
    throw new TuttiError("invalid_input", `${file} cannot be used: ${thrownMessage(thrown)}`, { cause: thrown });
  }
  const config = parseConfig(file, value);
  const read = readUserTools(config.tools, { file, taken: takenNames });
  if (!read.ok) refuseTools(read.issues);
  return { file, config, tools: [], process: undefined };
}

function parseConfig(file: string, value: unknown): Config {
  const parsed = Config.safeParse(value);
  if (parsed.success) return parsed.data;
  const issues = issuesOf(parsed.error);
  throw new TuttiError("invalid_input", `${file}: ${describeIssues(issues)}`, { details: { file, issues } });
}

function refuseTools(issues: readonly string[]): void {
  if (issues.length > 0) throw new TuttiError("invalid_input", issues.join("; "), { details: { issues: [...issues] } });
}
