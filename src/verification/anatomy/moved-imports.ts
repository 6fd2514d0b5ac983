// A test of the base that imports a module which the session moved: the base's text, with only the path of that module changed.

import type { BaseTree } from "./base-tree.ts";
import { fileKind } from "./file-kinds.ts";
import { scriptFile } from "./source-reaches.ts";
import { folderOf, joined, withoutExtension } from "./tree-paths.ts";

/** Where files of the base went that the session deleted: a new file with the same content or, if there is one alone, the same name. */
export type Moved = ReadonlyMap<string, string>;

/** Undefined when the test imports nothing that moved. */
export function withMovedImports(tree: BaseTree, path: string, moved: Moved): string | undefined {
  const text = tree.read(path);
  if (text === undefined || moved.size === 0) return undefined;
  const kind = fileKind(path, text);
  const changed =
    kind === "script" ? movedScript(tree, path, { text, moved }) : kind === "python" ? movedPython(text, moved) : text;
  return changed === text ? undefined : changed;
}

interface Text {
  readonly text: string;
  readonly moved: Moved;
}

function movedScript(tree: BaseTree, path: string, { text, moved }: Text): string {
  return text.replaceAll(
    /(\bfrom\s*|\bimport\s*\(?\s*|\brequire\s*\(\s*)(["'])(\.{1,2}\/[^"'\n]*)\2/g,
    (all: string, before: string, quote: string, specifier: string) => {
      const target = scriptFile(tree, joined(folderOf(path), specifier))?.[0];
      const place = target === undefined ? undefined : moved.get(target);
      if (target === undefined || place === undefined) return all;
      // An import without an ending, or with that of what a build makes, keeps its way of writing.
      const ending = /\.[cm]?[jt]sx?$/.exec(specifier)?.[0] ?? "";
      return `${before}${quote}${relative(folderOf(path), withoutExtension(place) + ending)}${quote}`;
    },
  );
}

function movedPython(text: string, moved: Moved): string {
  let changed = text;
  for (const [from, to] of moved) {
    if (!from.endsWith(".py") || !to.endsWith(".py")) continue;
    const [before, after] = [dotted(from), dotted(to)];
    if (before === "" || after === "") continue;
    const name = before.replaceAll(".", String.raw`\.`);
    // `import total` has to keep its name.
    changed = changed
      .replaceAll(new RegExp(String.raw`^([ \t]*from[ \t]+)${name}(?=[ \t]+import\b)`, "gm"), `$1${after}`)
      .replaceAll(
        new RegExp(String.raw`^([ \t]*import[ \t]+)${name}[ \t]*$`, "gm"),
        before.includes(".") ? `$1${after}` : `$1${after} as ${before}`,
      );
  }
  return changed;
}

function dotted(path: string): string {
  return withoutExtension(path)
    .replace(/^src\//, "")
    .replace(/\/__init__$/, "")
    .replaceAll("/", ".");
}

function relative(from: string, to: string): string {
  const [one, other] = [from.split("/").filter(Boolean), to.split("/")];
  let same = 0;
  while (same < one.length && same < other.length - 1 && one[same] === other[same]) same += 1;
  const up = one.slice(same).map(() => "..");
  return `${up.length === 0 ? "./" : ""}${[...up, ...other.slice(same)].join("/")}`;
}
