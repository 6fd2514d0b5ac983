// Finds the files of a project that a server of its repository is started from: those that its settings name, and what these import.

import { existsSync, lstatSync, readdirSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, join, normalize, resolve } from "node:path";

import { fileHash } from "../../files/file-hash.ts";
import { strangerProblem } from "../../files/owned-path.ts";
import { folderVariable } from "../../mcp/expand-variables.ts";
import { contentMark, filesBelow, markOf, pathInside, pathsIn, type ServerCode } from "../../mcp/server-code.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { McpServerEntry, StdioServer } from "../../protocol/invocation/mcp-servers.ts";
import { isInstalled, readImportedFiles } from "./imported-files.ts";

const maxFiles = 20_000;
const maxBytes = 256 * 2 ** 20;
const what = "the server";
const script = /\.[cm]?[jt]sx?$/;

/**
 * What is not found, such as a module that is imported under a name which is only known when the program runs, is not in the
 * copy that the server is started from, so the server fails instead of running something that nobody agreed to.
 */
export function serverCode(project: string | undefined, entry: McpServerEntry): ServerCode {
  if (project === undefined || "url" in entry || !existsSync(project)) return { project: undefined, files: {} };
  const top = realpathSync(project);
  const files = new Map<string, string>();
  const scripts: string[] = [];
  let bytes = 0;
  const add = (path: string): void => {
    const below = pathInside(top, path);
    if (below === undefined || files.has(below)) return;
    if (files.size === maxFiles) throw tooLarge();
    mustBeOwn(path);
    const real = realpathSync(path);
    bytes += statSync(real).size;
    if (bytes > maxBytes) throw tooLarge();
    if (!lstatSync(path).isSymbolicLink()) {
      files.set(below, markOf(path));
      if (script.test(path) && !isInstalled(path)) scripts.push(path);
    } else if (isPlainLink(top, path)) {
      files.set(below, markOf(path));
      if (statSync(real).isFile()) add(real);
    } else if (pathInside(top, real) !== undefined && statSync(real).isFile()) {
      files.set(below, contentMark(fileHash(real, statSync(real, { bigint: true }))));
    }
  };
  for (const path of namedFiles(top, entry)) add(path);
  for (const path of entry.files ?? []) addListed(top, path, add);
  if (scripts.length > 0) {
    const read = readImportedFiles(scripts, { what, onRead: (path) => script.test(path) });
    const put = (path: string, hash: string): unknown => {
      const below = pathInside(top, path);
      return below === undefined ? undefined : files.set(below, contentMark(hash));
    };
    for (const [path, hash] of [...read.files, ...read.packageFiles]) put(path, hash);
    // How a script is read depends on the `package.json` above it.
    const folders = [...read.files.keys()].flatMap((path) => foldersAbove(top, path));
    for (const path of [...new Set(folders)].map((folder) => join(folder, "package.json")))
      if (existsSync(path)) add(path);
    for (const path of packageLinks(top, files, new Set(folders))) add(path);
  }
  return { project: top, files: Object.fromEntries(files) };
}

function tooLarge(): TuttiError {
  const limits = `${maxFiles} files or ${maxBytes / 2 ** 20} MiB`;
  return new TuttiError("too_large", `it is started from more than ${limits}; name fewer in its field files`);
}

/** A link that leads to the same place in the copy. Any other would lead out of it. */
function isPlainLink(top: string, path: string): boolean {
  const target = readlinkSync(path);
  if (isAbsolute(target) || normalize(target) !== target) return false;
  return pathInside(top, resolve(dirname(path), target)) !== undefined;
}

function mustBeOwn(path: string): void {
  const problem = strangerProblem(dirname(path)) ?? strangerProblem(path);
  if (problem !== undefined) throw new TuttiError("refused", `${what} is not used: ${problem}`);
}

/** Any word that is the path of a file: what a program does with its arguments cannot be told. */
function namedFiles(top: string, { command, args, env, cwd }: StdioServer): string[] {
  const base = resolve(top, cwd ?? ".");
  return [command, ...args, ...Object.values(env)].flatMap(pathsIn).flatMap((word) => {
    const text = word.replace(new RegExp(`^\\$\\{${folderVariable}(?::-[^}]*)?\\}`), top);
    const isPath = text !== command || text.includes("/");
    const path = resolve(base, text);
    return isPath && isInProject(top, path) && statSync(path).isFile() ? [path] : [];
  });
}

function addListed(top: string, listed: string, add: (path: string) => void): void {
  const path = resolve(top, listed);
  if (isAbsolute(listed) || !isInProject(top, path)) {
    throw new TuttiError("refused", `its field files names ${JSON.stringify(listed)}, which is not in the project`);
  }
  if (!lstatSync(path).isDirectory()) return add(path);
  for (const below of filesBelow(path)) add(join(path, below));
}

/** It exists, and neither it nor where its links lead is outside. */
function isInProject(top: string, path: string): boolean {
  if (path.includes("\0") || pathInside(top, path) === undefined || !existsSync(path)) return false;
  return pathInside(top, realpathSync(path)) !== undefined;
}

function foldersAbove(top: string, path: string): string[] {
  const found: string[] = [];
  for (let at = dirname(path); pathInside(top, at) !== undefined; at = dirname(at)) {
    found.push(at);
    if (at === top) break;
  }
  return found;
}

/** Some package managers link packages into `node_modules` folders; without the links nothing is found in the copy. */
function packageLinks(top: string, files: ReadonlyMap<string, string>, above: ReadonlySet<string>): string[] {
  const packages = new Set<string>();
  const folders = new Set([...above].map((folder) => join(folder, "node_modules")));
  for (const path of files.keys()) {
    if (path === "package.json" || path.endsWith("/package.json")) packages.add(join(top, dirname(path)));
    const at = path.lastIndexOf("node_modules/");
    if (at !== -1) folders.add(join(top, path.slice(0, at), "node_modules"));
  }
  const entries = (folder: string): string[] =>
    readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory() && entry.name.startsWith("@")) return entries(path);
      return entry.isSymbolicLink() && existsSync(path) && packages.has(realpathSync(path)) ? [path] : [];
    });
  return [...folders].filter((folder) => existsSync(folder)).flatMap(entries);
}
