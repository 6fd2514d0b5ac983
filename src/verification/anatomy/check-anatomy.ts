// Finds out what a check is made of on the base: from its command through scripts, makefiles and settings to tests and what these use.

import type { BaseTree } from "./base-tree.ts";
import { fileKind, isCode } from "./file-kinds.ts";
import { followCommands, type Followed } from "./follow-commands.ts";
import { readPackage } from "./package-names.ts";
import { pythonFiles, sourceReaches } from "./source-reaches.ts";
import { pathWords, sourceText } from "./source-text.ts";
import { hasSubject, helpersOf, productionOf, type Production } from "./subjects.ts";
import {
  isGoldenName,
  isInTestFolder,
  isJudgeSetting,
  isRunSetting,
  isTestLike,
  isTestName,
  isTestSetting,
} from "./test-names.ts";
import { folderOf, foldersUp, isBelow, namedBy, nameOf } from "./tree-paths.ts";

export interface CheckPlace {
  readonly argv: readonly string[];
  /** Relative to the top; `.` for the top. */
  readonly cwd: string;
  readonly setup: readonly { readonly command: readonly string[] }[];
  /** Where setup runs. */
  readonly project: string;
}

export interface Anatomy {
  readonly tree: BaseTree;
  readonly followed: Followed;
  /** Files of the base that the check is made of. */
  readonly own: ReadonlySet<string>;
  /** Folders that belong to it with everything in them. */
  readonly folders: ReadonlySet<string>;
  /** The tests of the base. None, when the check runs no tests. */
  readonly tests: readonly string[];
  readonly production: Production;
}

const mostRounds = 12;

export function checkAnatomy(tree: BaseTree, check: CheckPlace): Anatomy {
  const cwd = check.cwd === "." ? "" : check.cwd.replace(/^\.\/|\/+$/g, "");
  const project = check.project === "." ? "" : check.project.replace(/^\.\/|\/+$/g, "");
  const followed = followCommands(tree, [
    { words: check.argv, cwd },
    ...check.setup.map(({ command }) => ({ words: command, cwd: project })),
  ]);
  const reaches = sourceReaches(tree, cwd);
  const own = new Set(followed.own);
  const folders = new Set(followed.folders);
  const isSetting = (path: string): boolean =>
    isRunSetting(path) || (followed.runsTests && isTestSetting(path)) || (followed.judges && isJudgeSetting(path));
  for (const path of tree.paths) if (isSetting(path)) own.add(path);
  const tests = followed.runsTests ? tree.paths.filter((path) => isTestLike(path) && !followed.work.has(path)) : [];
  for (const path of tests) own.add(path);
  if (followed.runsTests) {
    for (const path of codeOf(tree))
      if (!own.has(path) && mayTest(tree, path) && reaches(path).testing === "runner") own.add(path);
  }
  const settings = settingWords(tree, [...own].filter(isSetting), followed);
  let production: Production = { code: new Set(), data: new Set() };
  for (let round = 0; round < mostRounds; round += 1) {
    const judging = new Set([...own].filter((path) => isCode(fileKind(path, tree.read(path)))));
    const reached = { tree, reaches, judging, named: settings };
    production = productionOf(reached);
    // What runs as the subject of a check cannot be what the check is made of.
    const before = own.size + folders.size;
    for (const path of helpersOf(reached, production)) own.add(path);
    for (const path of settings) if (!production.code.has(path) && !production.data.has(path)) own.add(path);
    for (const path of judging) {
      const { data, folders: named, starts } = reaches(path);
      const isMeasured = hasSubject(reached, path);
      for (const each of data) {
        const isMeasure = isMeasured && !production.data.has(each) && fileKind(each) !== "document";
        if (
          isMeasure ||
          isInTestFolder(each) ||
          (isGoldenName(each) && (isMeasured || starts || !production.data.has(each)))
        )
          own.add(each);
      }
      for (const folder of named) {
        if (isBelow(path, folder) || foldersUp(cwd).includes(folder)) continue;
        const files = tree.below(folder);
        const holdsWork = files.some((each) => production.code.has(each) || production.data.has(each));
        if (
          !holdsWork &&
          (isInTestFolder(`${folder}/a`) ||
            isGoldenName(folder) ||
            (isMeasured && files.every((each) => !isDocument(each))))
        )
          folders.add(folder);
      }
    }
    if (own.size + folders.size === before) break;
  }
  for (const path of followed.work) if (!followed.own.has(path)) own.delete(path);
  return {
    tree,
    followed,
    own,
    folders,
    tests: [...own].filter((path) => isTestName(path) || isTestCode(tree, path)),
    production,
  };

  function isTestCode(base: BaseTree, path: string): boolean {
    return isCode(fileKind(path, base.read(path))) && reaches(path).testing === "runner" && followed.runsTests;
  }
}

function isDocument(path: string): boolean {
  return fileKind(path) === "document";
}

function codeOf(tree: BaseTree): string[] {
  return tree.paths.filter((path) => isCode(fileKind(path)));
}

/** Whether it is worth to look for the imports of a test runner. */
function mayTest(tree: BaseTree, path: string): boolean {
  return /test|jest|ava|mocha|tape|uvu|playwright|cypress|jasmine|qunit/.test(tree.read(path) ?? "");
}

/** Files that settings name, in whatever format they are written. */
function settingWords(tree: BaseTree, settings: readonly string[], followed: Followed): string[] {
  const texts = [
    ...settings.map((path) => ({ path, text: tree.read(path) ?? "" })),
    ...(followed.runsTests ? packageSettings(tree) : []),
  ];
  return texts.flatMap(({ path, text }) => {
    if (/makefile$|\.mk$/i.test(path)) return [];
    const places = [...new Set([...foldersUp(folderOf(path)), ""])];
    const quoted = pathWords(sourceText(text, /[cm]?[jt]s$|jsonc?$/.test(path) ? "slashes" : "hash").strings);
    // In INI and YAML values stand without quotes.
    const bare = /(?:\.[cm]?[jt]sx?|jsonc?)$/.test(path)
      ? []
      : text
          .split("\n")
          .filter((line) => !/^\s*[#;]/.test(line))
          .flatMap((line) => line.split(/[\s=,"'[\]]+|:\s/))
          .filter((word) => /[./]/.test(word));
    // Plugins are named as modules.
    const modules = [...(path.endsWith("conftest.py") ? [] : bare), ...plugins(text)].filter((word) =>
      /^\w+(?:\.\w+)+$/.test(word),
    );
    // What `conftest.py` names besides plugins is read as of any other test.
    const words = path.endsWith("conftest.py") ? [] : [...quoted.map((word) => word.text), ...bare];
    return [
      ...words.flatMap((word) => namedBy(tree, word, places).files),
      ...modules.flatMap((word) => places.flatMap((place) => pythonFiles(tree, place, word.split(".")))),
    ];
  });
}

function plugins(text: string): string[] {
  const [, list = ""] = /\bpytest_plugins\s*=\s*([[(][^\])]*[\])]|[^\n]*)/.exec(text) ?? [];
  return [...list.matchAll(/["']([\w.]+)["']/g)].map(([, name = ""]) => name);
}

const packageFields = ["jest", "mocha", "ava", "tap", "vitest", "nyc", "c8", "babel", "uvu", "jasmine"];

/** Settings of runners that are kept in a package.json. */
function packageSettings(tree: BaseTree): { readonly path: string; readonly text: string }[] {
  return tree.paths.flatMap((path) => {
    const read = nameOf(path) === "package.json" ? readPackage(tree.read(path)) : undefined;
    if (read === undefined) return [];
    return [{ path, text: JSON.stringify(packageFields.map((field) => read[field] ?? null)) }];
  });
}
