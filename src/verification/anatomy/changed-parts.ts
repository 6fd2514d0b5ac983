// Decides of every path that a session changed whether the check is made of it, whether it is a new test, or whether it is work.

import type { Anatomy } from "./check-anatomy.ts";
import { fileKind, isCode } from "./file-kinds.ts";
import { packageNames, readPackage } from "./package-names.ts";
import { packageWithBase } from "./package-parts.ts";
import { isProjectFile, projectWithBase } from "./project-parts.ts";
import { isPythonLibrary } from "./python-library.ts";
import { isThorough, readCommand } from "./read-command.ts";
import { shellCommands } from "./shell-commands.ts";
import {
  isDotted,
  isHook,
  isInstalled,
  isJudgeSetting,
  isRunSetting,
  isTestLike,
  isTestName,
  isTestSetting,
} from "./test-names.ts";
import { folderOf, foldersUp, globMatcher, isBelow, joined, nameOf, withoutExtension } from "./tree-paths.ts";

interface ChangedPath {
  readonly path: string;
  readonly isAdded: boolean;
}

type PathRole = "check" | "new test" | "work";

export type RoleOf = (changed: ChangedPath) => PathRole;

/** Project files are not meant: see `projectText`. */
export function rolesIn(anatomy: Anatomy): RoleOf {
  const { tree, followed, own, folders, tests } = anatomy;
  const names = packageNames(tree);
  const python = [...own].filter((path) => fileKind(path, tree.read(path)) === "python");
  const usesPython =
    python.length > 0 ||
    [...followed.tools].some((tool) => /^(?:python|pypy|pytest|py\.test|unittest|nose2|tox|nox|doctest)$/.test(tool));
  const roots = new Set(["", ...python.map(folderOf), ...python.flatMap((path) => foldersUp(folderOf(path)))]);
  const stems = new Set([...own].flatMap((path) => [withoutExtension(path)]));
  const ownFolders = new Set([...own].flatMap((path) => foldersUp(folderOf(path))));
  /** Without tests and scripts of its own, the base has no way to judge that could be stepped around. */
  const isGreen = ![...own].some(
    (path) => isCode(fileKind(path, tree.read(path))) && !isTestSetting(path) && !isRunSetting(path),
  );
  // Where commands find nothing but files of the check, a file that is added is found as one of these.
  const patterns = followed.patterns.filter((matches) => tree.paths.every((path) => !matches(path) || own.has(path)));
  const isFound = (path: string): boolean => patterns.some((matches) => matches(path));
  const isMade = (path: string): boolean =>
    [path, ...foldersUp(folderOf(path))].some((each) => followed.targets.some((matches) => matches(each)));
  const inFolders = (path: string): boolean => [...folders].some((folder) => isBelow(path, folder));

  return ({ path, isAdded }) => {
    if (tree.isBeyond()) return isAdded && !isUnasked(path) ? (isTestLike(path) ? "new test" : "work") : "check";
    if (!isAdded) return own.has(path) || inFolders(path) || isInstalled(path) ? "check" : "work";
    if (followed.work.has(path)) return "work";
    if (tree.isFolder(path) && ownFolders.has(path)) return "check";
    if (isHook(path) || shadowsLibrary(path) || isMade(path)) return "check";
    if (isGreen) return isTestLike(path) ? "new test" : "work";
    if (followed.missing.has(path)) return "check";
    if (inFolders(path) || isFound(path) || shadowsOwn(path) || isUnasked(path)) return "check";
    // By a `PATH` of the base, it could take the place of a program that the check calls.
    if (followed.tools.has(nameOf(path))) return "check";
    return isTestLike(path) && followed.runsTests ? "new test" : "work";
  };

  function isUnasked(path: string): boolean {
    if (isInstalled(path) || isRunSetting(path)) return isNear(path);
    if (nameOf(path) === "conftest.py") return true;
    if (isDotted(path)) return isNear(path);
    if (followed.runsTests && isTestSetting(path)) return isNear(path);
    if (followed.judges && isJudgeSetting(path)) return isNear(path);
    if (nameOf(path) === "__init__.py") return usesPython && tests.some((test) => isLoadedWith(test, folderOf(path)));
    const parts = path.split("/");
    const at = parts.findIndex((part) => part === "__mocks__" || part === "vendor");
    return at !== -1 && isNear(parts.slice(0, at + 1).join("/"));
  }

  /** Discovery loads the packages above a test, and those below a folder of tests. */
  function isLoadedWith(test: string, folder: string): boolean {
    const tested = folderOf(test);
    return isBelow(test, folder) || (tested !== "" && isBelow(folder, tested));
  }

  /** What runners look for, they look for beside the files of the check and above them. */
  function isNear(path: string): boolean {
    const top = path.split("/").findIndex((part) => part.startsWith("."));
    const folder = top === -1 ? folderOf(path) : path.split("/").slice(0, top).join("/");
    return folder === "" || ownFolders.has(folder);
  }

  function shadowsLibrary(path: string): boolean {
    if (!usesPython) return false;
    return [...roots].some((root) => {
      if (!isBelow(path, root) || path === root) return false;
      const rest = root === "" ? path : path.slice(root.length + 1);
      const [first = ""] = rest.split("/");
      const isFolder = rest.includes("/");
      if (isFolder && tree.isFolder(joined(root, first) ?? "")) return false;
      if (!isFolder && !/\.(?:py[cdw]?|so)$/.test(first)) return false;
      const module = first.replace(/\..*$/, "");
      if (isFolder && !/\.(?:py[cdw]?|so)$/.test(path)) return false;
      return isPythonLibrary(module) || (names.isDependency(module) && !names.own(module).length);
    });
  }

  function shadowsOwn(path: string): boolean {
    const parts = path.split("/");
    // `helper/index.js` and `helper/package.json` for `helper.js`, whatever the folder holds.
    for (let length = 1; length < parts.length; length += 1) {
      const folder = parts.slice(0, length).join("/");
      if (stems.has(folder) && !tree.isFolder(folder)) return true;
    }
    const stem = withoutExtension(path);
    return (
      stems.has(stem) || (stem !== path && own.has(stem)) || stems.has(`${stem}/index`) || stems.has(`${stem}/__init__`)
    );
  }
}

/** Whether the base's tests are picked up where this new one lies, so that there is something to run without it. */
export function isBesideTests({ tree, tests, followed }: Anatomy, path: string, manifests: readonly string[]): boolean {
  const isWanted = [...followed.wanted].some((word) => isBelow(path, word) || (globMatcher("", word)?.(path) ?? false));
  // What only lies beside tests, such as new data, harms nobody, and the work may need it.
  if (isWanted || !isTestName(path)) return false;
  const folder = packageFolder(path, manifests);
  return tests.some((test) => tree.has(test) && packageFolder(test, manifests) === folder && isCode(fileKind(test)));
}

function packageFolder(path: string, manifests: readonly string[]): string {
  const folders = new Set(manifests.map(folderOf));
  return foldersUp(folderOf(path)).find((folder) => folders.has(folder)) ?? "";
}

export function isManifest(path: string): boolean {
  return /^(?:package\.json|pyproject\.toml|setup\.cfg|setup\.py|go\.mod|Cargo\.toml)$/.test(nameOf(path));
}

export function isPartFile(path: string): boolean {
  return nameOf(path) === "package.json" || isProjectFile(path);
}

/** The session's project file with the base's way to run checks; undefined when both run them the same way. */
export function projectText(
  anatomy: Anatomy,
  path: string,
  session: string,
  base: string | undefined,
): string | undefined {
  const { tree, followed, own } = anatomy;
  if (nameOf(path) !== "package.json") return projectWithBase(path, session, base, followed.tools);
  const names = packageNames(tree);
  const name = readPackage(session)?.["name"];
  // A package of the repository takes the place of an installed one of the same name.
  if (base === undefined && typeof name === "string" && (names.isDependency(name) || followed.tools.has(name)))
    return "{}\n";
  // Files of the check below it would find their imports by it, and no longer by the one above.
  if (base === undefined && isGoverned(anatomy, folderOf(path))) return "";
  const hasOwn = [...own].some((each) => folderOf(path) === "" && isCode(fileKind(each)));
  return packageWithBase({
    session,
    base,
    tools: followed.tools,
    isKnown: (each) => names.own(each).length > 0,
    isCheck: (target) => leadsTo(own, folderOf(path), target),
    keepsScript: (line) => {
      if (base === undefined && !hasOwn && folderOf(path) !== "") return true;
      return leadsToTests(line) || !isRun(line);
    },
  });

  function isRun(line: string): boolean {
    // A script that the check runs must lead to something that can fail.
    const scripts = readPackage(session)?.["scripts"];
    const list = typeof scripts === "object" && scripts !== null ? Object.entries(scripts) : [];
    const key = list.find(([, each]) => each === line)?.[0];
    if (key === undefined) return true;
    const bare = key.replace(/^(?:pre|post)/, "");
    const isCalled =
      [...followed.scripts.values()].some((each) => each.has(bare)) ||
      followed.packageWords.has(key) ||
      followed.packageWords.has(bare);
    return isCalled;
  }

  function leadsToTests(line: string): boolean {
    return shellCommands(line).some(({ words }) => {
      const read = readCommand(words);
      return read !== undefined && isThorough(read);
    });
  }
}

/** Whether a package.json of the base holds for this folder, and files of the check lie in it. */
function isGoverned({ tree, own }: Anatomy, folder: string): boolean {
  const isBelowOne = foldersUp(folder).some((each) => tree.has(joined(each, "package.json") ?? ""));
  return isBelowOne && [...own].some((path) => isBelow(path, folder) && isCode(fileKind(path)));
}

/** `target` may have a star, which stands for anything. */
function leadsTo(own: ReadonlySet<string>, folder: string, target: string): boolean {
  const path = joined(folder, target);
  if (path === undefined || !path.includes("*")) return path !== undefined && own.has(path);
  const [before = "", ...rest] = path.split("*");
  const after = rest.at(-1) ?? "";
  return [...own].some((each) => each.startsWith(before) && each.endsWith(after));
}
