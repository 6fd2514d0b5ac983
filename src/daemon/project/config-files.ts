// Finds the config of a folder and the files that it imports, and gives them one hash: what a person agrees to when they trust it.

import { createHash } from "node:crypto";
import { existsSync, realpathSync } from "node:fs";
import { join, relative } from "node:path";

import { isSharedFolder } from "../../files/owned-path.ts";
import { withoutComments } from "../../protocol/json/json-with-comments.ts";
import { readWrittenJson, type WrittenJson } from "../../protocol/json/written-json.ts";
import { type ImportedFiles, mustBeOwn, readImportedFiles } from "./imported-files.ts";
import { managerFiles } from "./manager-texts.ts";
import { TuttiError } from "../../protocol/error.ts";

export const configNames = ["ts", "js", "mjs", "json", "jsonc"].map((ending) => `tutti.config.${ending}`);

const what = "the config";

/** Its files are the config, the texts of the manager, and what they import. */
export interface ConfigFiles extends ImportedFiles {
  /** The folder the config is in, without symbolic links. */
  readonly folder: string;
  /** The config itself. */
  readonly file: string;
  /** Its text, as it was hashed. */
  readonly text: string;
  /** SHA-256 over the paths and contents of all files, those of the packages too. */
  readonly hash: string;
}

/**
 * Undefined when the folder has no config. Only what is written as a literal is found; the process that runs the config
 * refuses every other file. Throws `refused` when another user could change one of the files, and `invalid_input` when
 * there are two configs.
 */
export function readConfigFiles(folder: string): ConfigFiles | undefined {
  const [found, other] = configNames.map((name) => join(folder, name)).filter((path) => existsSync(path));
  if (found === undefined || isSharedFolder(folder)) return undefined;
  if (other !== undefined) {
    throw new TuttiError("invalid_input", `there are two configs, ${found} and ${other}; keep one`);
  }
  const top = realpathSync(folder);
  const file = realpathSync(found);
  mustBeOwn(top, what);
  let text = "";
  const texts = managerFiles.map(({ path }) => join(top, path)).filter((path) => existsSync(path));
  const read = readImportedFiles([file, ...texts.map((path) => realpathSync(path))], {
    what,
    onRead(path, content) {
      if (path === file) text = content.toString("utf8");
      return !isDataName(path) && !path.endsWith(".md");
    },
  });
  return { folder: top, file, text, ...read, hash: hashOf({ folder: top, file, text, ...read }) };
}

function isDataName(file: string): boolean {
  return /\.jsonc?$/.test(file);
}

/** Whether the config is data and not code. */
export function isData({ file }: Pick<ConfigFiles, "file">): boolean {
  return isDataName(file);
}

/** The value of a config that is data; one that ends in `.jsonc` may have comments. */
export function readConfigJson({ file, text }: Pick<ConfigFiles, "file" | "text">): WrittenJson {
  return readWrittenJson(file.endsWith(".jsonc") ? withoutComments(text) : text);
}

function hashOf({ folder, files, packages, packageFiles }: Omit<ConfigFiles, "hash">): string {
  const listed = (of: ReadonlyMap<string, string>): string[] =>
    [...of].map(([path, hash]) => `${hash} ${relative(folder, path)}`).toSorted();
  const content = [listed(files), packages, ...(packageFiles.size === 0 ? [] : [listed(packageFiles)])];
  return createHash("sha256").update(JSON.stringify(content)).digest("hex");
}
