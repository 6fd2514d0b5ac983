// The files that given files of code import, whatever imports what, and the installed packages among them.

import { createHash } from "node:crypto";
import { readFileSync, realpathSync, statSync } from "node:fs";
import { createRequire, findPackageJSON, isBuiltin } from "node:module";
import { dirname } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

import { z } from "zod";

import { strangerProblem } from "../../files/owned-path.ts";
import { parseJson } from "../../protocol/json/parse-json.ts";
import { thrownMessage, TuttiError } from "../../protocol/error.ts";
import { readPackageFiles } from "./package-files.ts";

const maxFiles = 500;
const maxBytes = 8 * 1024 * 1024;

export interface ImportedFiles {
  /** Path to SHA-256, for the first files and every file they import that is not part of an installed package. */
  readonly files: ReadonlyMap<string, string>;
  /** The installed packages they import, as `name@version`. */
  readonly packages: readonly string[];
  /** Path to SHA-256, for every file of these packages and of those that they depend on. */
  readonly packageFiles: ReadonlyMap<string, string>;
}

interface Reading {
  /** What the files are, for errors. */
  readonly what: string;
  /** Told the content of each file as it was hashed; says whether to look for imports in it. */
  readonly onRead: (path: string, content: Buffer) => boolean;
}

/**
 * Only what is written as a literal is found. Throws `refused` when another user could change one of the files. `first`
 * are real paths.
 */
export function readImportedFiles(first: readonly string[], { what, onRead }: Reading): ImportedFiles {
  const files = new Map<string, string>();
  const packages = new Map<string, string>();
  const waiting = [...first];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (files.has(path)) continue;
    if (files.size === maxFiles) throw new TuttiError("too_large", `${first[0]} imports more than ${maxFiles} files`);
    const content = readOwn(path, what);
    files.set(path, createHash("sha256").update(content).digest("hex"));
    if (!onRead(path, content)) continue;
    for (const specifier of literalImports(content.toString("utf8"))) {
      const imported = resolveImport(specifier, path);
      if (imported === undefined) continue;
      if ("package" in imported) packages.set(imported.package, imported.manifest);
      else waiting.push(imported.path);
    }
  }
  return { files, packages: [...packages.keys()].toSorted(), packageFiles: readPackageFiles(packages.values()) };
}

/** Whoever can change a folder can exchange the files in it. */
function readOwn(path: string, what: string): Buffer {
  mustBeOwn(dirname(path), what);
  mustBeOwn(path, what);
  try {
    if (statSync(path).size > maxBytes) throw new TuttiError("too_large", `${path} is larger than ${maxBytes} bytes`);
    return readFileSync(path);
  } catch (thrown) {
    if (thrown instanceof TuttiError) throw thrown;
    throw new TuttiError("io", `could not read ${path}: ${thrownMessage(thrown)}`, { cause: thrown });
  }
}

export function mustBeOwn(path: string, what: string): void {
  const problem = strangerProblem(path);
  if (problem !== undefined) throw new TuttiError("refused", `${what} is not used: ${problem}`);
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
