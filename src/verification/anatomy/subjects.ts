// Tells of the code that tests reach which is their subject, and so the work, and which helps the tests, and so is the check's.

import type { BaseTree } from "./base-tree.ts";
import { fileKind, isCode } from "./file-kinds.ts";
import { packageNames } from "./package-names.ts";
import type { ReadReaches } from "./source-reaches.ts";
import { isTestLike, isTestSetting, subjectName } from "./test-names.ts";
import { extensionOf, folderOf, foldersUp, nameOf, stemOf, withoutExtension } from "./tree-paths.ts";

export interface Reached {
  readonly tree: BaseTree;
  readonly reaches: ReadReaches;
  /** Files that judge: tests, scripts and settings of the check, and what is known to help them. */
  readonly judging: ReadonlySet<string>;
  /** Files that settings name. */
  readonly named: readonly string[];
}

export interface Production {
  readonly code: ReadonlySet<string>;
  /** Data and documents that the code reads. */
  readonly data: ReadonlySet<string>;
}

/** What a program of the project needs, tests and checks left out: from where it begins, and from what a test is named after. */
export function productionOf({ tree, reaches, judging, named }: Reached): Production {
  const all = tree.paths.filter((path) => !judging.has(path) && !isTestLike(path) && isCodeFile(tree, path));
  const entries = new Set(packageNames(tree).entries.flatMap((each) => [each, ...sourceOf(tree, each)]));
  const reached = new Set(named);
  for (const path of [...all, ...judging]) for (const target of reaches(path).code) reached.add(target);
  const code = new Set<string>();
  // What nothing leads to is where a program begins, or what is not used at all.
  const open = all.filter((path) => entries.has(path) || (!reached.has(path) && reaches(path).testing !== "runner"));
  for (const path of judging)
    open.push(...reaches(path).code.filter((target) => !judging.has(target) && isNamedAfter(path, target)));
  const data = new Set<string>();
  for (const path of open) {
    if (code.has(path)) continue;
    code.add(path);
    // A module of Python brings the packages that it lies in.
    if (path.endsWith(".py")) {
      const packages = foldersUp(folderOf(path)).map((folder) => `${folder}/__init__.py`);
      open.push(...packages.filter((each) => tree.has(each) && !judging.has(each)));
    }
    for (const target of reaches(path).code) if (!judging.has(target) && !isTestLike(target)) open.push(target);
    for (const target of reaches(path).data) data.add(target);
  }
  return { code, data };
}

/** Code that the judging files reach and that only helps them. Where nothing tells subject and helper apart, it is the subject. */
export function helpersOf({ tree, reaches, judging }: Reached, production: Production): string[] {
  const from = new Map<string, string[]>();
  for (const path of judging) {
    for (const target of reaches(path).code) {
      if (!judging.has(target)) from.set(target, [...(from.get(target) ?? []), path]);
    }
  }
  const isSubject = (path: string): boolean => production.code.has(path);
  return [...from].flatMap(([path, judges]) => {
    if (!tree.has(path)) return [];
    if (isTestLike(path)) return [path];
    if (isSubject(path)) return [];
    if (reaches(path).testing !== "none") return [path];
    // What settings load is loaded before any test. `conftest.py` is rather a test that others share.
    const alone = judges.some(
      (judge) =>
        (!isTestSetting(judge) || judge.endsWith(".py")) &&
        !reaches(judge).code.some((other) => other !== path && isSubject(other)),
    );
    return alone ? [] : [path];
  });
}

/** Whether a file that judges has code as its subject, which makes the data that it reads a measure. */
export function hasSubject({ reaches, judging }: Pick<Reached, "reaches" | "judging">, path: string): boolean {
  const seen = new Set<string>();
  const open = [path];
  for (const each of open) {
    if (seen.has(each)) continue;
    seen.add(each);
    const { code, hasUnknown } = reaches(each);
    if (hasUnknown || !/^(?:script|python|shell)$/.test(fileKind(each, "#!/bin/sh"))) return true;
    for (const target of code) {
      if (!judging.has(target)) return true;
      open.push(target);
    }
  }
  return false;
}

function isNamedAfter(test: string, target: string): boolean {
  const subject = subjectName(test);
  const stem = stemOf(target).toLowerCase();
  const name = /^(?:index|__init__|main|mod)$/.test(stem) ? nameOf(folderOf(target)).toLowerCase() : stem;
  const flat = (text: string): string => text.replaceAll(/[-_.]/g, "");
  return subject !== "" && flat(name) === flat(subject);
}

function isCodeFile(tree: BaseTree, path: string): boolean {
  return isCode(fileKind(path, extensionOf(path) === "" ? tree.read(path) : undefined));
}

/** An entry is often what a build makes of `src/`. */
function sourceOf(tree: BaseTree, entry: string): string[] {
  const stem = withoutExtension(entry);
  const places = [
    stem,
    stem.replace(/(?:^|(?<=\/))(?:dist|lib|build|out)\//, "src/"),
    stem.replace(/(?:^|(?<=\/))(?:dist|lib|build|out)\//, ""),
  ];
  return places
    .flatMap((each) => [".js", ".ts", ".mjs", ".mts", ".cjs", ".jsx", ".tsx", ""].map((ending) => `${each}${ending}`))
    .filter((each) => tree.has(each));
}
