// The project's config, `tutti.config.{ts,js,mjs,json}`: found, loaded and checked, with errors that name file and path.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { z } from "zod";

import { ModelsConfig } from "../model/models-config.ts";
import { ApprovalPolicy } from "../protocol/approval-policy.ts";
import { TuttiError } from "../protocol/error.ts";
import { issuesOf } from "../protocol/lenient-read.ts";

const Config = z.strictObject({
  models: ModelsConfig.default(() => ModelsConfig.parse({})),
  approvals: ApprovalPolicy.optional(),
  /** The project's own tools; checked by whoever runs them. */
  tools: z.array(z.unknown()).default(() => []),
});
type Config = z.infer<typeof Config>;

export interface LoadedConfig {
  /** Undefined when the project has none. */
  readonly file: string | undefined;
  readonly config: Config;
}

export const configNames = ["ts", "js", "mjs", "json"].map((ending) => `tutti.config.${ending}`);

/** A config that is code is run: whoever works in a project trusts it. */
export async function loadConfig(project: string): Promise<LoadedConfig> {
  const found = configNames.map((name) => join(project, name)).filter((path) => existsSync(path));
  const [file, other] = found;
  if (file === undefined) return { file, config: Config.parse({}) };
  if (other !== undefined) {
    throw new TuttiError("invalid_input", `there are two configs, ${file} and ${other}; keep one`);
  }
  const value = file.endsWith(".json") ? readJson(file) : await runModule(file);
  const parsed = Config.safeParse(value);
  if (parsed.success) return { file, config: parsed.data };
  const issues = issuesOf(parsed.error);
  const told = issues.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`)).join("; ");
  throw new TuttiError("invalid_input", `${file}: ${told}`, { details: { file, issues } });
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch (thrown) {
    throw unusable(file, thrown);
  }
}

/** What it exports by default is the config; else what it exports by name. */
async function runModule(file: string): Promise<unknown> {
  try {
    const exported: Record<string, unknown> = { ...(await import(pathToFileURL(file).href)) };
    return "default" in exported ? exported["default"] : exported;
  } catch (thrown) {
    throw unusable(file, thrown);
  }
}

function unusable(file: string, thrown: unknown): TuttiError {
  const why = thrown instanceof Error ? thrown.message : String(thrown);
  return new TuttiError("invalid_input", `${file} cannot be used: ${why.split("\n")[0] ?? ""}`, { cause: thrown });
}
