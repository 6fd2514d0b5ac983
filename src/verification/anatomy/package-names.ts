// The packages of the base: which are its own, where they begin, and the names of the dependencies that they declare.

import { z } from "zod";

import type { BaseTree } from "./base-tree.ts";
import { exportTargets } from "./package-exports.ts";
import { tomlEntries, tomlStrings } from "./toml-entries.ts";
import { folderOf, foldersUp, joined, nameOf } from "./tree-paths.ts";

export interface PackageNames {
  /** The files with which an own package of this name begins, or the part of it that the name goes on with. */
  readonly own: (specifier: string) => readonly string[];
  readonly isDependency: (specifier: string) => boolean;
  /** The files that an import of `#name` may mean in this folder. */
  readonly inside: (specifier: string, folder: string) => readonly string[];
  /** Where code is entered: `main`, `bin`, `exports` and the like. Some of these have no such file. */
  readonly entries: readonly string[];
  readonly goModules: readonly { readonly name: string; readonly folder: string }[];
}

const Package = z.record(z.string(), z.unknown());

export function readPackage(text: string | undefined): Record<string, unknown> | undefined {
  try {
    return text === undefined ? undefined : Package.parse(JSON.parse(text.replace(/^\uFEFF/, "")));
  } catch {
    return undefined;
  }
}

export const dependencyFields = [
  "dependencies",
  "devDependencies",
  "peerDependencies",
  "optionalDependencies",
] as const;

const known = new WeakMap<BaseTree, PackageNames>();

export function packageNames(tree: BaseTree): PackageNames {
  const found = known.get(tree) ?? readNames(tree);
  known.set(tree, found);
  return found;
}

function readNames(tree: BaseTree): PackageNames {
  const own = new Map<
    string,
    { readonly folder: string; readonly entries: readonly string[]; readonly exports: unknown }
  >();
  const dependencies = new Set<string>();
  const entries: string[] = [];
  const goModules: { name: string; folder: string }[] = [];
  const imports = new Map<string, unknown>();
  for (const path of tree.paths) {
    const folder = folderOf(path);
    switch (nameOf(path)) {
      case "package.json": {
        const read = readPackage(tree.read(path));
        if (read === undefined) break;
        for (const field of dependencyFields) for (const name of keysOf(read[field])) dependencies.add(name);
        imports.set(folder, read["imports"]);
        const begun = entriesOf(read).flatMap((each) => joined(folder, each) ?? []);
        entries.push(...begun);
        if (typeof read["name"] === "string")
          own.set(read["name"], { folder, entries: begun, exports: read["exports"] });
        break;
      }
      case "pyproject.toml":
      case "setup.cfg":
      case "setup.py":
      case "Pipfile":
        for (const name of pythonNames(path, tree.read(path) ?? "")) dependencies.add(name);
        entries.push(...pythonEntries(tree.read(path) ?? "", folder));
        break;
      case "go.mod": {
        const [, name] = /^\s*module\s+"?([^\s"]+)/m.exec(tree.read(path) ?? "") ?? [];
        if (name !== undefined) goModules.push({ name, folder });
        break;
      }
      case "index.html":
        entries.push(path);
        break;
      default:
        if (/^(?:requirements|constraints).*\.(?:txt|in)$/.test(nameOf(path)))
          for (const name of pythonNames(path, tree.read(path) ?? "")) dependencies.add(name);
    }
  }
  return {
    own: (specifier) => {
      const name = packageOf(specifier);
      const found = own.get(name);
      if (found === undefined) return [];
      const rest = specifier.slice(name.length + 1);
      const exported = exportTargets(found.exports, rest === "" ? "." : `./${rest}`);
      if (exported !== undefined) return exported.flatMap((each) => joined(found.folder, each) ?? []);
      if (rest === "") return found.entries.length > 0 ? found.entries : [joined(found.folder, "index") ?? ""];
      return [rest, `src/${rest}`].flatMap((each) => joined(found.folder, each) ?? []);
    },
    isDependency: (specifier) =>
      dependencies.has(packageOf(specifier)) || dependencies.has(specifier.toLowerCase().replaceAll("-", "_")),
    inside: (specifier, from) => {
      // The package.json that is nearest counts alone.
      const folder = foldersUp(from).find((each) => imports.has(each));
      if (folder === undefined) return [];
      return (exportTargets(imports.get(folder), specifier) ?? []).flatMap((each) => joined(folder, each) ?? []);
    },
    entries: entries.flatMap((each) => (each.includes("*") ? starred(tree, each) : [each])),
    goModules,
  };
}

export function packageOf(specifier: string): string {
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}

export function keysOf(value: unknown): string[] {
  const read = Package.safeParse(value);
  return read.success ? Object.keys(read.data) : [];
}

function entriesOf(read: Record<string, unknown>): string[] {
  const found: string[] = [];
  const walk = (value: unknown, depth: number): void => {
    if (typeof value === "string") found.push(value);
    else if (typeof value === "object" && value !== null && depth < 6)
      for (const each of Object.values(value)) walk(each, depth + 1);
  };
  for (const field of ["main", "module", "browser", "bin", "exports", "types", "source"]) walk(read[field], 0);
  return found;
}

function starred(tree: BaseTree, pattern: string): string[] {
  const at = pattern.indexOf("*");
  const [before, after] = [pattern.slice(0, at), pattern.slice(at + 1)];
  return tree.paths.filter((path) => path.startsWith(before) && path.endsWith(after));
}

/** The names in lists of dependencies. */
function pythonNames(path: string, text: string): string[] {
  const told = path.endsWith(".toml")
    ? (tomlEntries(text) ?? []).flatMap(({ key, value }) => {
        const at = key.findIndex((part) => /dependenc|^requires$/.test(part));
        if (at === -1) return [];
        // In some files the names are keys, in others strings of a list.
        return value.startsWith("[") ? tomlStrings(value) : [key[at + 1] ?? ""];
      })
    : /^(?:requirements|constraints)/.test(nameOf(path))
      ? text.split("\n")
      : [
          ...text.matchAll(/(?:install|tests|setup|extras)_requires?\s*=\s*((?:[^\n]*\n)(?:[ \t]+[^\n]*\n?)*)/g),
        ].flatMap(([, list = ""]) => list.split(/[\n,[\]"']+/));
  return told.flatMap((each) => {
    const [name] = /^[A-Za-z][\w.-]*/.exec(each.trim()) ?? [];
    return name === undefined ? [] : [name.toLowerCase().replaceAll(/[-.]/g, "_")];
  });
}

/** `total = "shop.cli:main"` begins in `shop/cli.py`. */
function pythonEntries(text: string, folder: string): string[] {
  return [...text.matchAll(/=\s*["']?([A-Za-z_][\w.]*):[A-Za-z_]\w*/g)].flatMap(([, module = ""]) =>
    ["", "src/"].flatMap((root) => {
      const path = joined(folder, `${root}${module.replaceAll(".", "/")}`) ?? "";
      return [`${path}.py`, `${path}/__init__.py`];
    }),
  );
}
