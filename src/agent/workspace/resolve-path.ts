// Resolves a path from a tool call inside the folders the task may touch, or says why it is refused.

import { realpath } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";

import { errno } from "../../core/errno.ts";
import { TuttiError } from "../../protocol/error.ts";

/** The longest path the system accepts. */
const longestPath = 4_096;

export interface ResolvedPath {
  /** The real path of the root that contains it. */
  readonly root: string;
  /** The names below the root, with links resolved; empty for the root itself. */
  readonly names: readonly string[];
  /** Root and names together: the path the model is told. */
  readonly path: string;
}

/**
 * Links are resolved here and never again: whoever opens the path goes down from the root name by name and follows no
 * link, so a link that is created meanwhile cannot lead outside. Refused when the path is outside of every root.
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
  const isNamed = real.some(({ asGiven, root }) => isInside(wanted, asGiven) || isInside(wanted, root));
  if (!isNamed) throw outside(path, roots);
  const target = await realTarget(wanted, path);
  const found = real.find(({ root }) => isInside(target, root));
  if (found === undefined) throw outside(path, roots);
  const names = relative(found.root, target)
    .split(sep)
    .filter((name) => name !== "");
  return { root: found.root, names, path: target };
}

/** A root that does not exist yet keeps the path it was given; it may be created later. */
async function realRoots(
  roots: readonly string[],
): Promise<readonly { readonly asGiven: string; readonly root: string }[]> {
  return Promise.all(
    roots.map(async (root) => {
      const asGiven = resolve(root);
      return { asGiven, root: await realTarget(asGiven, root) };
    }),
  );
}

/** The real path of the part that exists, followed by the names that do not exist yet. */
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

/** Turns an error of the file system into one a model can use. */
export function fileError(thrown: unknown, path: string): TuttiError {
  if (thrown instanceof TuttiError) return thrown;
  const reason = errno(thrown);
  const error = (code: "not_found" | "refused" | "invalid_input" | "disk_full" | "io", text: string): TuttiError =>
    new TuttiError(code, text, { cause: thrown });
  switch (reason) {
    case "ENOENT":
      return error("not_found", `there is no ${path}`);
    case "ENOTDIR":
      return error("not_found", `there is no ${path}: something on the way to it is not a folder`);
    case "ELOOP":
      return error("refused", `${path} leads through a link that is not followed`);
    case "EACCES":
    case "EPERM":
    case "EROFS":
      return error("refused", `there is no permission to open ${path} (${reason})`);
    case "ENAMETOOLONG":
      return error("invalid_input", "a name in the path is too long");
    case "ENOSPC":
    case "EDQUOT":
      return error("disk_full", `there is no room left for ${path}`);
    default:
      return error("io", `${path} cannot be opened (${reason ?? String(thrown)})`);
  }
}
