// Finds the config of a folder and the files that it imports, and gives them one hash: what a person agrees to when they trust it.

import { createHash } from "node:crypto";
import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { createRequire, findPackageJSON, isBuiltin } from "node:module";
import { dirname, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

import { z } from "zod";

import { isSharedFolder, strangerProblem } from "../../files/owned-path.ts";
import { withoutComments } from "../../protocol/json/json-with-comments.ts";
import { readWrittenJson, type WrittenJson } from "../../protocol/json/written-json.ts";
import { parseJson } from "../../protocol/json/parse-json.ts";
import { managerFiles } from "./manager-texts.ts";
import { readPackageFiles } from "./package-files.ts";
import { thrownMessage, TuttiError } from "../../protocol/error.ts";

export const configNames = ["ts", "js", "mjs", "json", "jsonc"].map((ending) => `tutti.config.${ending}`);

const maxFiles = 500;
const maxBytes = 8 * 1024 * 1024;

export interface ConfigFiles {
  /** The folder the config is in, without symbolic links. */
  readonly folder: string;
  /** The config itself. */
  readonly file: string;
  /** Its text, as it was hashed. */
  readonly text: string;
  /** SHA-256 over the paths and contents of all files, those of the packages too. */
  readonly hash: string;
  /** Path to SHA-256, for the config, the texts of the manager, and every file it imports that is not part of an installed package. */
  readonly files: ReadonlyMap<string, string>;
  /** The installed packages it imports, as `name@version`. */
  readonly packages: readonly string[];
  /** Path to SHA-256, for every file of these packages and of those that they depend on. */
  readonly packageFiles: ReadonlyMap<string, string>;
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
  mustBeOwn(top);
  const files = new Map<string, string>();
  const packages = new Map<string, string>();
  let text = "";
  const texts = managerFiles.map(({ path }) => join(top, path)).filter((path) => existsSync(path));
  const waiting = [file, ...texts.map((path) => realpathSync(path))];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (files.has(path)) continue;
    if (files.size === maxFiles) throw new TuttiError("too_large", `${file} imports more than ${maxFiles} files`);
    const content = readOwn(path);
    files.set(path, createHash("sha256").update(content).digest("hex"));
    if (path === file) text = content.toString("utf8");
    if (isDataName(path) || path.endsWith(".md")) continue;
    for (const specifier of literalImports(content.toString("utf8"))) {
      const imported = resolveImport(specifier, path);
      if (imported === undefined) continue;
      if ("package" in imported) packages.set(imported.package, imported.manifest);
      else waiting.push(imported.path);
    }
  }
  const named = [...packages.keys()].toSorted();
  const packageFiles = readPackageFiles(packages.values());
  const read = { folder: top, file, text, files, packages: named, packageFiles };
  return { ...read, hash: hashOf(read) };
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

/** Whoever can change a folder can exchange the files in it. */
function readOwn(path: string): Buffer {
  mustBeOwn(dirname(path));
  mustBeOwn(path);
  try {
    if (statSync(path).size > maxBytes) throw new TuttiError("too_large", `${path} is larger than ${maxBytes} bytes`);
    return readFileSync(path);
  } catch (thrown) {
    if (thrown instanceof TuttiError) throw thrown;
    throw new TuttiError("io", `could not read ${path}: ${thrownMessage(thrown)}`, { cause: thrown });
  }
}

function mustBeOwn(path: string): void {
  const problem = strangerProblem(path);
  if (problem !== undefined) throw new TuttiError("refused", `the config is not used: ${problem}`);
}

/** Also finds imports in comments and texts, which does no harm: such a file is hashed although it is not needed. */
function literalImports(source: string): string[] {
  const found = source.matchAll(/\b(?:from|import|require)\s{0,20}\(?\s{0,20}(["'`])([^"'`\n$\\]{1,500})\1/g);
  return [...found].map(([, , specifier = ""]) => specifier);
}

type Imported = { readonly path: string } | { readonly package: string; readonly manifest: string };

/** Undefined for what is part of Node or of Tutti, and for what does not exist. */
function resolveImport(specifier: string, from: string): Imported | undefined {
  if (isBuiltin(specifier) || /^tutti(?:\/(?:client|protocol|testing))?$/.test(specifier)) return undefined;
  if (/^(?:\.{0,2}\/|file:)/.test(specifier)) {
    const url = URL.parse(specifier, pathToFileURL(from).href);
    if (url?.protocol !== "file:") return undefined;
    return found(withEnding(fileURLToPath(new URL(url.pathname, url))));
  }
  try {
    return found(createRequire(from).resolve(specifier)) ?? packageOf(specifier, from);
  } catch {
    return packageOf(specifier, from);
  }
}

/** A package that is linked into `node_modules` from elsewhere is code of the project and not an installed package. */
function found(path: string | undefined): Imported | undefined {
  if (path === undefined) return undefined;
  const real = realpathSync(path);
  return isInstalled(real) ? packageAt(findPackageJSON(pathToFileURL(real))) : { path: real };
}

export function isInstalled(path: string): boolean {
  return /[\\/]node_modules[\\/]/.test(path);
}

/** `require` adds an ending to a path without one. */
function withEnding(path: string): string | undefined {
  const endings = ["", ".js", ".cjs", ".json", "/index.js"];
  return endings
    .map((ending) => `${path}${ending}`)
    .find((each) => statSync(each, { throwIfNoEntry: false })?.isFile());
}

function packageOf(specifier: string, from: string): Imported | undefined {
  try {
    return packageAt(findPackageJSON(specifier, pathToFileURL(from)));
  } catch {
    return undefined;
  }
}

const PackageFile = z.object({ name: z.string(), version: z.string().default("") });

function packageAt(file: string | undefined): Imported | undefined {
  if (file === undefined) return undefined;
  const parsed = PackageFile.safeParse(parseJson(readFileSync(file, "utf8")));
  return parsed.success ? { package: `${parsed.data.name}@${parsed.data.version}`, manifest: file } : undefined;
}
