// Finds, loads and validates a project's config, `tutti.config.{ts,js,mjs,json}`, with errors that name the file and the field.

import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { z } from "zod";

import { ModelsConfig } from "../../model/models-config.ts";
import { ApprovalPolicy } from "../../protocol/invocation/approval-policy.ts";
import { TuttiError } from "../../protocol/error.ts";
import { issuesOf, describeIssues } from "../../protocol/lenient-read.ts";
import { NotifyConfig } from "../notify/notify-config.ts";

const Config = z.strictObject({
  models: ModelsConfig.default(() => ModelsConfig.parse({})),
  approvals: ApprovalPolicy.optional(),
  notifications: NotifyConfig.default(() => NotifyConfig.parse({})),
  /** The project's own tools; validated when they are made into tools (`readUserTools`). */
  tools: z.array(z.unknown()).default(() => []),
});
export type Config = z.infer<typeof Config>;

export interface LoadedConfig {
  /** Undefined when the project has none. */
  readonly file: string | undefined;
  readonly config: Config;
}

export const configNames = ["ts", "js", "mjs", "json"].map((ending) => `tutti.config.${ending}`);

/** The first config file of the project; undefined when it has none. */
export function configFile(project: string): string | undefined {
  return configFiles(project)[0];
}

function configFiles(project: string): string[] {
  return configNames.map((name) => join(project, name)).filter((path) => existsSync(path));
}

/** A config that is code is executed, so a project must be trusted before it is worked in. */
export async function loadConfig(project: string): Promise<LoadedConfig> {
  const [file, other] = configFiles(project);
  if (file === undefined) return { file, config: Config.parse({}) };
  if (other !== undefined) {
    throw new TuttiError("invalid_input", `there are two configs, ${file} and ${other}; keep one`);
  }
  const value = file.endsWith(".json") ? readJson(file) : await runModule(file);
  const parsed = Config.safeParse(value);
  if (parsed.success) return { file, config: parsed.data };
  const issues = issuesOf(parsed.error);
  throw new TuttiError("invalid_input", `${file}: ${describeIssues(issues)}`, { details: { file, issues } });
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch (thrown) {
    throw unusable(file, thrown);
  }
}

/** The config is the default export; without one, the named exports are its fields. */
async function runModule(file: string): Promise<unknown> {
  try {
    // Node caches a module by its URL, and a daemon that runs for weeks must see an edited config.
    const url = `${pathToFileURL(file).href}?changed=${statSync(file).mtimeMs}`;
    const exported: Record<string, unknown> = { ...(await import(url)) };
    return "default" in exported ? exported["default"] : exported;
  } catch (thrown) {
    throw unusable(file, thrown);
  }
}

function unusable(file: string, thrown: unknown): TuttiError {
  const why = thrown instanceof Error ? thrown.message : String(thrown);
  return new TuttiError("invalid_input", `${file} cannot be used: ${why.split("\n")[0] ?? ""}`, { cause: thrown });
}
