// The contents of installed packages that a config imports, and of those that they depend on: an agent can write them like any other file.

import { lstatSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { findPackageJSON } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

import { z } from "zod";

import { fileHash } from "../../files/file-hash.ts";
import { parseJson } from "../../protocol/json/parse-json.ts";
import { TuttiError } from "../../protocol/error.ts";

const maxFiles = 20_000;
const maxBytes = 256 * 1024 * 1024;

const Dependencies = z.record(z.string(), z.unknown()).catch({});
const Manifest = z.object({
  dependencies: Dependencies.optional(),
  optionalDependencies: Dependencies.optional(),
  peerDependencies: Dependencies.optional(),
});

/**
 * Path to SHA-256, of every file of the packages with these `package.json` files and of their dependencies. What is run
 * is hashed once more when it is loaded, so a change that does not show in its inode cannot slip through.
 */
export function readPackageFiles(manifests: Iterable<string>): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  const seen = new Set<string>();
  const waiting = [...manifests].map((path) => realpathSync(path));
  let bytes = 0;
  for (let manifest = waiting.pop(); manifest !== undefined; manifest = waiting.pop()) {
    if (seen.has(manifest)) continue;
    seen.add(manifest);
    for (const path of filesIn(dirname(manifest))) {
      const stats = lstatSync(path, { bigint: true });
      bytes += Number(stats.size);
      if (files.size === maxFiles || bytes > maxBytes) {
        const limits = `${maxFiles} files or ${maxBytes / 1024 / 1024} MiB`;
        throw new TuttiError("too_large", `packages of more than ${limits} are imported; import fewer`);
      }
      files.set(path, fileHash(path, stats));
    }
    waiting.push(...dependenciesOf(manifest));
  }
  return files;
}

/** Without the packages that are installed inside: those that are needed are found as dependencies. Links are not followed. */
function filesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === "node_modules" ? [] : filesIn(path);
    return entry.isFile() ? [path] : [];
  });
}

/** A dependency that is not installed cannot be loaded either. */
function dependenciesOf(manifest: string): string[] {
  const { data } = Manifest.safeParse(parseJson(readFileSync(manifest, "utf8")));
  const names = Object.keys({ ...data?.dependencies, ...data?.optionalDependencies, ...data?.peerDependencies });
  return names.flatMap((name) => {
    try {
      const found = findPackageJSON(name, pathToFileURL(manifest));
      return found === undefined ? [] : [realpathSync(found)];
    } catch {
      return [];
    }
  });
}
