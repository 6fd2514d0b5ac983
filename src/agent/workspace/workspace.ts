// Where a path of a tool call leads inside the folders a task may touch, or why it leads nowhere.

import { realpath } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";

import { TuttiError } from "../../protocol/error.ts";

/** The system takes no longer ones. */
const longestPath = 4_096;

export interface ResolvedPath {
  /** The real path of the root it lies in; what is above it is not the task's to change. */
  readonly root: string;
  /** Below the root, without links as it was when it was looked at; empty for the root itself. */
  readonly names: readonly string[];
  /** Both together: what the model is told. */
  readonly path: string;
}

/**
 * Links are followed here and looked at no more: whoever opens the place goes down from the root name by name and
 * follows none, so a link put in between leads nowhere. Refused when it lies outside every root.
 */
export async function resolvePath(path: string, roots: readonly string[]): Promise<ResolvedPath> {
  const [first] = roots;
  if (first === undefined) throw new TuttiError("refused", "this task may not touch any folder");
  if (path.includes("\0")) throw new TuttiError("invalid_input", "a path cannot hold a zero byte");
  if (Buffer.byteLength(path) > longestPath) {
    throw new TuttiError("invalid_input", `a path cannot be longer than ${longestPath} bytes`);
  }
  const wanted = resolve(first, path);
  const real = await realRoots(roots);
  const isNamed = real.some(({ given, root }) => isInside(wanted, given) || isInside(wanted, root));
  if (!isNamed) throw outside(path, roots);
  const target = await realTarget(wanted, path);
  const found = real.find(({ root }) => isInside(target, root));
  if (found === undefined) throw outside(path, roots);
  const names = relative(found.root, target)
    .split(sep)
    .filter((name) => name !== "");
  return { root: found.root, names, path: target };
}

/** A root that is not there yet stays as it was given; whoever may make folders makes it. */
async function realRoots(
  roots: readonly string[],
): Promise<readonly { readonly given: string; readonly root: string }[]> {
  return Promise.all(
    roots.map(async (root) => {
      const given = resolve(root);
      return { given, root: await realTarget(given, root) };
    }),
  );
}

/** The real path of what is there, and below it the names that are not. */
async function realTarget(wanted: string, path: string): Promise<string> {
  const missing: string[] = [];
  for (let at = wanted; ; at = dirname(at)) {
    try {
      return join(await realpath(at), ...missing);
    } catch (thrown) {
      const code = errno(thrown);
      if ((code !== "ENOENT" && code !== "ENOTDIR") || dirname(at) === at) throw fileError(thrown, path);
    }
    missing.unshift(basename(at));
  }
}

function isInside(path: string, root: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : `${root}${sep}`);
}

function outside(path: string, roots: readonly string[]): TuttiError {
  return new TuttiError("refused", `${path} is outside the folders this task may touch: ${roots.join(", ")}`);
}

export function errno(thrown: unknown): string | undefined {
  return thrown instanceof Error && "code" in thrown ? String(thrown.code) : undefined;
}

/** What the system said about a file, as a model can use it. */
export function fileError(thrown: unknown, path: string): TuttiError {
  if (thrown instanceof TuttiError) return thrown;
  const code = errno(thrown);
  const said = (kind: "not_found" | "refused" | "invalid_input" | "disk_full" | "io", text: string): TuttiError =>
    new TuttiError(kind, text, { cause: thrown });
  switch (code) {
    case "ENOENT":
      return said("not_found", `there is no ${path}`);
    case "ENOTDIR":
      return said("not_found", `there is no ${path}: something on the way to it is not a folder`);
    case "ELOOP":
      return said("refused", `${path} leads through a link that is not followed`);
    case "EACCES":
    case "EPERM":
    case "EROFS":
      return said("refused", `${path} may not be opened like this (${code})`);
    case "ENAMETOOLONG":
      return said("invalid_input", "a name in the path is too long");
    case "ENOSPC":
    case "EDQUOT":
      return said("disk_full", `there is no room left for ${path}`);
    default:
      return said("io", `${path} cannot be opened (${code ?? String(thrown)})`);
  }
}
