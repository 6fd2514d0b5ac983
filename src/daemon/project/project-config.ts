// The project's config, `tutti.config.{ts,js,mjs,json}`: found, loaded and checked, with errors that name file and path.

import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { z } from "zod";

import { ModelsConfig } from "../../model/models-config.ts";
import { ApprovalPolicy } from "../../protocol/invocation/approval-policy.ts";
import { TuttiError } from "../../protocol/error.ts";
import { issuesOf } from "../../protocol/lenient-read.ts";
import { NotifyConfig } from "../notify/notify-config.ts";

const Config = z.strictObject({
  models: ModelsConfig.default(() => ModelsConfig.parse({})),
  approvals: ApprovalPolicy.optional(),
  notifications: NotifyConfig.default(() => NotifyConfig.parse({})),
  /** The project's own tools; checked by whoever runs them. */
  tools: z.array(z.unknown()).default(() => []),
});
export type Config = z.infer<typeof Config>;

export interface LoadedConfig {
  /** Undefined when the project has none. */
  readonly file: string | undefined;
  readonly config: Config;
}

export const configNames = ["ts", "js", "mjs", "json"].map((ending) => `tutti.config.${ending}`);

/** The first there is, when there is one. */
export function configFile(project: string): string | undefined {
  return configFiles(project)[0];
}

function configFiles(project: string): string[] {
  return configNames.map((name) => join(project, name)).filter((path) => existsSync(path));
}

/** A config that is code is run: whoever works in a project trusts it. */
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
    // A service that runs for weeks must see an edit; Node keeps a module for as long as its address is the same.
    const address = `${pathToFileURL(file).href}?changed=${statSync(file).mtimeMs}`;
    const exported: Record<string, unknown> = { ...(await import(address)) };
    return "default" in exported ? exported["default"] : exported;
  } catch (thrown) {
    throw unusable(file, thrown);
  }
}

function unusable(file: string, thrown: unknown): TuttiError {
  const why = thrown instanceof Error ? thrown.message : String(thrown);
  return new TuttiError("invalid_input", `${file} cannot be used: ${why.split("\n")[0] ?? ""}`, { cause: thrown });
}
