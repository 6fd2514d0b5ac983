// What a source file of the base imports, runs, reads or names: other code, data and whole folders.

import type { BaseTree } from "./base-tree.ts";
import { fileKind, isCode } from "./file-kinds.ts";
import { packageNames, type PackageNames } from "./package-names.ts";
import { isPythonLibrary, isPythonTesting } from "./python-library.ts";
import { type PathWord, pathWords, sourceText } from "./source-text.ts";
import { extensionOf, folderOf, foldersUp, joined, type Named, namedBy, withoutExtension } from "./tree-paths.ts";

interface Reaches {
  readonly code: readonly string[];
  readonly data: readonly string[];
  readonly folders: readonly string[];
  /** It imports code that the base does not have and that no dependency provides. */
  readonly hasUnknown: boolean;
  /** It starts programs. */
  readonly starts: boolean;
  readonly testing: "runner" | "assertions" | "none";
}

export type ReadReaches = (path: string) => Reaches;

const scriptEndings = [
  "",
  ".js",
  ".ts",
  ".mjs",
  ".mts",
  ".cjs",
  ".cts",
  ".jsx",
  ".tsx",
  ".json",
  ".vue",
  ".svelte",
  ".rb",
  ".php",
  ".py",
];
const runnerModule =
  /^(?:node:test(?:\/.*)?|bun:test|vitest(?:\/.*)?|@jest\/.*|jest|mocha|ava|tape|tap|@tapjs\/.*|uvu|@playwright\/test|cypress|jasmine|qunit|testing|@std\/testing.*)$/;
const assertModule =
  /^(?:(?:node:)?assert(?:\/strict)?|chai(?:-.*)?|expect|should|power-assert|uvu\/assert|@std\/assert.*|@testing-library\/.*|sinon|supertest|nock|testdouble|fast-check|github\.com\/stretchr\/testify.*)$/;

/** What was read of a tree, for each folder that a check runs in. */
const readers = new WeakMap<BaseTree, Map<string, ReadReaches>>();

/** Remembers what it has read. */
export function sourceReaches(tree: BaseTree, cwd: string): ReadReaches {
  const ofTree = readers.get(tree) ?? new Map<string, ReadReaches>();
  readers.set(tree, ofTree);
  const reader = ofTree.get(cwd);
  if (reader !== undefined) return reader;
  const known = new Map<string, Reaches>();
  const names = packageNames(tree);
  const made: ReadReaches = (path) => {
    const found = known.get(path) ?? read(tree, names, { path, cwd });
    known.set(path, found);
    return found;
  };
  ofTree.set(cwd, made);
  return made;
}

interface Place {
  readonly path: string;
  readonly cwd: string;
}

interface Finding {
  readonly code: Set<string>;
  readonly data: Set<string>;
  readonly folders: Set<string>;
  hasUnknown: boolean;
  testing: Reaches["testing"];
}

function read(tree: BaseTree, names: PackageNames, place: Place): Reaches {
  const text = tree.read(place.path) ?? "";
  const kind = fileKind(place.path, text);
  const found: Finding = { code: new Set(), data: new Set(), folders: new Set(), hasUnknown: false, testing: "none" };
  const isHash = kind === "python" || kind === "shell" || /^(?:rb|p[lm]|r|jl|exs?|nim)$/.test(extensionOf(place.path));
  const { strings, code } = sourceText(text, isHash ? "hash" : "slashes");
  const add = (path: string): void => {
    if (path === place.path) return;
    if (isCode(fileKind(path, tree.has(path) && extensionOf(path) === "" ? tree.read(path) : undefined)))
      found.code.add(path);
    else found.data.add(path);
  };
  if (kind === "script") {
    for (const { text: specifier, before } of strings) {
      if (!/(?:\bfrom|\bimport|\brequire\s*\(|\bimport\s*\(|\bresolve\s*\(|\bmock\s*\()$/.test(before)) continue;
      noteTesting(found, specifier);
      const targets = importedScript(tree, names, specifier, place.path);
      if (targets === undefined) found.hasUnknown = true;
      else for (const target of targets) add(target);
    }
  }
  if (kind === "python")
    readPython(
      { tree, names, place, found },
      code,
      strings.map(({ text: each }) => each),
    ).forEach(add);
  if (kind === "code") for (const { text: each } of strings) noteTesting(found, each);
  const places = [...new Set([...foldersUp(folderOf(place.path)), place.cwd])];
  const words = pathWords(strings).map((word) => ({ word, named: namedWord(tree, word, places) }));
  // Of `join(folder, "cases", "a.txt")` the file is meant and not the folder.
  const settled = new Set(
    words.flatMap(({ word, named }) => (named.files.length > 0 && !word.isLoose ? [word.run] : [])),
  );
  for (const { word, named } of words) {
    for (const path of named.files) add(path);
    for (const path of goPackage(tree, names, word.text)) add(path);
    if (word.isLoose ? !word.text.includes("/") : settled.has(word.run) && !word.isOpen && !word.text.includes("*"))
      continue;
    for (const folder of named.folders) found.folders.add(folder);
  }
  const starts =
    strings.some(({ text: each }) => /^(?:node:)?child_process$|^execa$|^zx$|^cross-spawn$/.test(each)) ||
    /\bsubprocess\b|\bos\.(?:system|popen|exec\w+|spawn\w+)\b|\bBun\.spawn|\bDeno\.Command|\bexec\.Command\b|\bCommand::new|\bOpen3\b/.test(
      code,
    );
  return { ...found, code: [...found.code], data: [...found.data], folders: [...found.folders], starts };
}

function noteTesting(found: Finding, specifier: string): void {
  if (runnerModule.test(specifier)) found.testing = "runner";
  else if (assertModule.test(specifier) && found.testing === "none") found.testing = "assertions";
}

function namedWord(tree: BaseTree, { text, isOpen, isLoose }: PathWord, places: readonly string[]): Named {
  // Of the words of a sentence only those that look like a path are tried everywhere.
  if (isLoose && !/[./]/.test(text))
    return tree.has(text) ? { files: [text], folders: [] } : { files: [], folders: [] };
  return namedBy(tree, isOpen ? `${text}$` : text, places);
}

/** Empty for what comes with the platform or a dependency; undefined when nobody provides it. */
function importedScript(tree: BaseTree, names: PackageNames, specifier: string, from: string): string[] | undefined {
  if (specifier.startsWith(".") || specifier.startsWith("/"))
    return scriptFile(tree, joined(folderOf(from), specifier));
  if (/^(?:node|bun|npm|jsr|https?|data|virtual):/.test(specifier)) return [];
  const own = names.own(specifier);
  if (own.length > 0) {
    const files = own.flatMap((each) => scriptFile(tree, each) ?? []);
    return files.length > 0 ? files : undefined;
  }
  if (names.isDependency(specifier) || runnerModule.test(specifier) || assertModule.test(specifier)) return [];
  if (/^[@~#]\/|^[#~]/.test(specifier)) {
    const rest = specifier.replace(/^[@~#]*\/?/, "");
    const named = names.inside(specifier, folderOf(from)).flatMap((each) => scriptFile(tree, each) ?? []);
    if (named.length > 0) return named;
    return foldersUp(folderOf(from)).flatMap((folder) =>
      [rest, `src/${rest}`].flatMap((each) => scriptFile(tree, joined(folder, each)) ?? []),
    );
  }
  // Without a list of dependencies, a plain name can only be installed.
  return [];
}

/** The files that an import of this path may load. */
export function scriptFile(tree: BaseTree, path: string | undefined): string[] | undefined {
  if (path === undefined) return undefined;
  const bare = /\.[cm]?jsx?$/.test(path) ? withoutExtension(path) : undefined;
  const tried = [path, ...(bare === undefined ? [] : [bare])].flatMap((each) =>
    scriptEndings.flatMap((ending) => [`${each}${ending}`, `${each}/index${ending}`]),
  );
  const found = tried.filter((each) => tree.has(each));
  return found.length === 0 ? undefined : [...new Set(found)].slice(0, tree.has(path) ? 1 : undefined);
}

interface Reading {
  readonly tree: BaseTree;
  readonly names: PackageNames;
  readonly place: Place;
  readonly found: Finding;
}

function readPython({ tree, names, place, found }: Reading, code: string, strings: readonly string[]): string[] {
  const roots = [
    ...new Set([...foldersUp(folderOf(place.path)), place.cwd, joined(place.cwd, "src") ?? "src", "src", "lib"]),
  ];
  const targets: string[] = [];
  const take = (module: string, from: readonly string[], isImport: boolean): void => {
    const [first = ""] = module.split(".");
    const files = from.flatMap((root) => pythonFiles(tree, root, module.split(".").filter(Boolean)));
    targets.push(...files);
    if (!isImport || files.length > 0) return;
    if (isPythonTesting(first)) found.testing = "runner";
    else if (!isPythonLibrary(first) && !names.isDependency(first)) found.hasUnknown = true;
  };
  const flat = code
    .replaceAll(/\\\n/g, " ")
    .replaceAll(/\(([^()]*)\)/g, (_, inner: string) => ` ${inner.replaceAll("\n", " ")} `);
  for (const [, dots = "", module = "", imported = ""] of flat.matchAll(
    /^[ \t]*from[ \t]+(\.*)([\w.]*)[ \t]+import[ \t]+([^\n]*)/gm,
  )) {
    const bases = dots === "" ? roots : [foldersUp(folderOf(place.path))[dots.length - 1] ?? ""];
    if (module !== "") take(module, bases, dots === "");
    for (const name of imported.split(/[\s,]+/).filter((each) => /^\w+$/.test(each))) {
      take(module === "" ? name : `${module}.${name}`, bases, false);
    }
  }
  for (const [, list = ""] of flat.matchAll(/^[ \t]*import[ \t]+([^\n;]*)/gm)) {
    for (const part of list.split(",")) take(part.trim().split(/\s+/)[0] ?? "", roots, true);
  }
  for (const text of strings) if (/^\w+(?:\.\w+)+$/.test(text)) take(text, roots, false);
  return [...new Set(targets)];
}

/** A module and the packages that it lies in. Of a dotted name that ends in a function, the module. */
export function pythonFiles(tree: BaseTree, root: string, parts: readonly string[]): string[] {
  for (let length = parts.length; length > 0; length -= 1) {
    const path = joined(root, parts.slice(0, length).join("/")) ?? "";
    const module = [`${path}.py`, `${path}/__init__.py`].filter((each) => tree.has(each));
    if (module.length === 0) continue;
    const packages = parts
      .slice(0, length - 1)
      .map((_, index) => joined(root, `${parts.slice(0, index + 1).join("/")}/__init__.py`) ?? "");
    return [...module, ...packages.filter((each) => tree.has(each))];
  }
  return [];
}

function goPackage(tree: BaseTree, names: PackageNames, word: string): string[] {
  const module = names.goModules.find(({ name }) => word === name || word.startsWith(`${name}/`));
  if (module === undefined) return [];
  const folder = joined(module.folder, word.slice(module.name.length)) ?? "";
  return tree
    .below(folder)
    .filter((path) => folderOf(path) === folder && path.endsWith(".go") && !path.endsWith("_test.go"));
}
