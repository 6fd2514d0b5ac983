// Follows the commands of a check through shells, package scripts, makefiles and scripts, and tells what they do with which files.

import type { BaseTree } from "./base-tree.ts";
import { fileKind, isCode } from "./file-kinds.ts";
import { madeBy, readMakefile, recipesOf } from "./makefile.ts";
import { packageNames, readPackage } from "./package-names.ts";
import { plainName, readCommand, type ReadCommand, readWords } from "./read-command.ts";
import { type ShellCommand, shellCommands } from "./shell-commands.ts";
import { pythonFiles, sourceReaches } from "./source-reaches.ts";
import { isGoldenName, isInTestFolder, isTestLike, subjectName } from "./test-names.ts";
import { folderOf, foldersUp, globMatcher, isBelow, joined, namedBy, nameOf, stemOf } from "./tree-paths.ts";

export interface Followed {
  readonly tools: ReadonlySet<string>;
  /** Files of the base that commands run, or hold results against. */
  readonly own: ReadonlySet<string>;
  readonly folders: ReadonlySet<string>;
  /** Of its own files those that a program compares results with. */
  readonly compared: ReadonlySet<string>;
  /** What a command judges: the work, whether the base has it or not. */
  readonly work: ReadonlySet<string>;
  /** Files that the command itself runs or hands to a runner and that the base does not have. */
  readonly missing: ReadonlySet<string>;
  /** Words of a runner that name no file of the base: tests that are still to be written. */
  readonly wanted: ReadonlySet<string>;
  /** Patterns by which commands find files of the base to run or to hold results against. */
  readonly patterns: readonly ((path: string) => boolean)[];
  /** Names that make takes for something that is there already once a file has them. */
  readonly targets: readonly ((path: string) => boolean)[];
  /** Scripts of packages that a command runs: the path of the package.json and the name. */
  readonly scripts: ReadonlyMap<string, ReadonlySet<string>>;
  /** Words of a package manager, which may be the names of scripts that the base does not have. */
  readonly packageWords: ReadonlySet<string>;
  /** Some program runs that is more than one that judges the files it is given. */
  readonly runsTests: boolean;
  readonly judges: boolean;
}

interface Start {
  readonly words: readonly string[];
  readonly cwd: string;
}

interface Context {
  readonly cwd: string;
  /** The folder of the script that the command is in. */
  readonly beside: string;
  readonly depth: number;
}

const mostCommands = 3_000;
const mostDepth = 20;

export function followCommands(tree: BaseTree, starts: readonly Start[]): Followed {
  const tools = new Set<string>();
  const own = new Set<string>();
  const folders = new Set<string>();
  const compared = new Set<string>();
  const work = new Set<string>();
  const missing = new Set<string>();
  const wanted = new Set<string>();
  const patterns: ((path: string) => boolean)[] = [];
  const targets: ((path: string) => boolean)[] = [];
  const scripts = new Map<string, Set<string>>();
  const packageWords = new Set<string>();
  const entries = new Set(packageNames(tree).entries);
  const reaches = sourceReaches(tree, "");
  const tested = new Set(tree.paths.filter((path) => isTestLike(path)).map(subjectName));
  const done = new Set<string>();
  let runsTests = false;
  let hasJudges = false;
  let count = 0;

  for (const { words, cwd } of starts)
    follow({ words, inputs: [], isList: false, isKept: false, into: undefined }, { cwd, beside: cwd, depth: 0 });
  return {
    tools,
    own,
    folders,
    compared,
    work,
    missing,
    wanted,
    patterns,
    targets,
    scripts,
    packageWords,
    runsTests,
    judges: hasJudges,
  };

  function places({ cwd, beside }: Context): string[] {
    return [...new Set([cwd, beside, ""])];
  }

  function takeOwn(words: readonly string[], context: Context): void {
    for (const word of words) {
      const named = namedBy(tree, word, places(context));
      for (const path of named.files) own.add(path);
      for (const folder of named.folders) if (holdsNoProgram(folder)) folders.add(folder);
      if (!/[*?]/.test(word) || named.files.length === 0) continue;
      for (const place of places(context)) {
        const matches = globMatcher(place, word);
        if (matches !== undefined && named.files.some(matches)) patterns.push(matches);
      }
    }
  }

  function holdsNoProgram(folder: string): boolean {
    return tree.below(folder).every((path) => isTestLike(path) || !isCode(fileKind(path)));
  }

  function takeWork(words: readonly string[], context: Context): void {
    for (const word of words) {
      const named = namedBy(tree, word, [context.cwd]);
      for (const path of named.files) work.add(path);
      for (const folder of named.folders) for (const path of tree.below(folder)) work.add(path);
      const path = joined(context.cwd, word);
      if (path !== undefined && path !== "" && /^[\w./@-]+$/.test(word)) work.add(path);
    }
  }

  function followText(text: string, context: Context): void {
    const commands = shellCommands(text);
    const read = commands.map(({ words, isList }) => (isList ? undefined : readCommand(words)));
    const runsWork = read.some((each) => each !== undefined && !/^(?:judge|compare|quiet)$/.test(each.kind));
    // What a shell or an interpreter gets as a variable, such as the one of a loop, is run.
    const runsNamed = read.some((each) => isRunner(each) && /^["']?\$/.test(each?.args[0] ?? ""));
    let { cwd } = context;
    for (const [index, command] of commands.entries()) {
      if (command.isList) {
        if (runsWork) takeOwn(command.words, { ...context, cwd });
        else takeWork(command.words, { ...context, cwd });
        continue;
      }
      const found = read[index]?.tool === "find" ? foundBy(command.words, runsNamed) : [];
      if (found.length > 0) {
        takeOwn(found, { ...context, cwd });
        continue;
      }
      const target = command.words[1];
      if (read[index]?.tool === "cd" && target !== undefined) {
        const moved = joined(cwd, target);
        if (moved !== undefined && tree.isFolder(moved)) cwd = moved;
        continue;
      }
      follow(command, { ...context, cwd });
    }
  }

  function follow(command: ShellCommand, context: Context): void {
    const key = JSON.stringify([command, context.cwd, context.beside]);
    count += 1;
    if (done.has(key) || count > mostCommands || context.depth > mostDepth) return;
    done.add(key);
    const read = readCommand(command.words);
    if (read === undefined) return;
    tools.add(read.tool);
    if (/^(?:source|\.)$/.test(read.tool))
      return runScript(read.args[0], [], { context, isTop: false, into: undefined });
    const { settings: values, operands } = readWords(read);
    const reader = command.into === undefined ? undefined : readCommand([command.into])?.kind;
    // What a program prints is held against something: the program is the subject.
    const isJudged = reader === "judge" || reader === "compare" || command.isKept;
    if (read.kind === "judge") {
      hasJudges = true;
      takeOwn(values, context);
      return takeWork([...operands, ...command.inputs], context);
    }
    if (read.kind === "compare") return compare(operands, context);
    if (read.kind === "quiet") return undefined;
    takeOwn([...values, ...command.inputs], context);
    takeTools(read, context);
    const isTop = context.depth === 0;
    switch (read.kind) {
      case "shell": {
        const at = read.args.findIndex((word) => /^-\w*c$/.test(word));
        const line = at === -1 ? undefined : read.args[at + 1];
        if (line !== undefined) return followText(line, deeper(context));
        return runScript(operands[0], operands.slice(1), {
          context,
          isTop,
          into: isJudged ? (command.into ?? "") : undefined,
        });
      }
      case "manager":
        return runScripts(read, context);
      case "make":
        return runMake(read.args, context);
      case "tasks":
        runsTests = true;
        for (const path of tree.below(context.cwd))
          if (/^(?:\.?justfile|taskfile\.ya?ml|tox\.ini|noxfile\.py|tasks\.py|rakefile)$/i.test(nameOf(path)))
            runTasks(path, context);
        return undefined;
      case "runner":
        runsTests = true;
        for (const word of operands) takeTests(word, context);
        return undefined;
      case "interpreter":
        return runScript(operands[0], operands.slice(1), {
          context,
          isTop,
          into: isJudged ? (command.into ?? "") : undefined,
          values,
        });
      case "other":
        runsTests = true;
        if (read.program.includes("/"))
          return runScript(read.program, operands, {
            context,
            isTop,
            into: isJudged ? (command.into ?? "") : undefined,
          });
        // A function of a script, which holds what it is given against what is expected.
        return context.depth > 0 ? compare(operands, context) : undefined;
    }
  }

  function deeper(context: Context, beside = context.beside): Context {
    return { ...context, beside, depth: context.depth + 1 };
  }

  /** A module of the project takes the place of an installed one of the same name, and so does a package that it declares. */
  function takeTools({ program, args }: ReadCommand, context: Context): void {
    const index = args.indexOf("-m");
    const module = index === -1 ? program : (args[index + 1] ?? program);
    if (!module.includes("/"))
      for (const path of pythonFiles(tree, context.cwd, module.split("."))) if (!entries.has(path)) own.add(path);
    for (const path of tree.paths) {
      if (nameOf(path) !== "package.json") continue;
      const read = readPackage(tree.read(path));
      for (const field of ["dependencies", "devDependencies", "optionalDependencies"]) {
        const list = read?.[field];
        if (typeof list !== "object" || list === null) continue;
        for (const [name, spec] of Object.entries(list)) {
          const [, local] = typeof spec === "string" ? (/^(?:file|link|portal):(.+)$/.exec(spec) ?? []) : [];
          const folder = local === undefined ? undefined : joined(folderOf(path), local);
          if (folder === undefined || folder === "" || !tree.isFolder(folder)) continue;
          if (field === "devDependencies" || plainName(name) === plainName(program)) folders.add(folder);
        }
      }
    }
  }

  function compare(operands: readonly string[], context: Context): void {
    const known = operands.map((word) => ({ word, named: namedBy(tree, word, places(context)) }));
    const there = known.filter(({ named }) => named.files.length + named.folders.length > 0);
    if (there.length < operands.length) {
      for (const { named } of there) for (const path of named.files) compared.add(path);
      return takeOwn(
        there.map(({ word }) => word),
        context,
      );
    }
    // Both are there, so a name or a folder has to say which one is the measure.
    const measures = there.filter(
      ({ word, named }) => isGoldenName(word) || named.files.some((path) => isInTestFolder(path)),
    );
    for (const { named } of measures) for (const path of named.files) compared.add(path);
    takeOwn(
      measures.map(({ word }) => word),
      context,
    );
    takeWork(
      there.filter((each) => !measures.includes(each)).map(({ word }) => word),
      context,
    );
  }

  function takeTests(word: string, context: Context): void {
    const plain = word.replace(/::.*$/, "");
    // The top is always there.
    if (joined(context.cwd, plain) === "") return;
    const named = namedBy(tree, plain, [context.cwd]);
    const modules = /^[\w.]+$/.test(plain) ? pythonFiles(tree, context.cwd, plain.split(".")) : [];
    if (named.files.length + named.folders.length + modules.length === 0) {
      wanted.add(joined(context.cwd, plain) ?? plain);
      wanted.add(joined(context.cwd, `${plain.replaceAll(".", "/")}.py`) ?? plain);
    }
    for (const path of [...named.files, ...modules]) own.add(path);
  }

  function runScript(
    word: string | undefined,
    operands: readonly string[],
    {
      context,
      isTop,
      into,
      values = [],
    }: { context: Context; isTop: boolean; into: string | undefined; values?: readonly string[] },
  ): void {
    runsTests = true;
    if (word === undefined) {
      // `node -e` and the like: the program is in the arguments.
      for (const value of values) takeOwn(value.split(/[\s"'`(),;]+/), context);
      return;
    }
    const { files } = namedBy(tree, word, places(context));
    const path = files[0];
    if (path === undefined) {
      const absent = joined(context.cwd, word);
      if (isTop && absent !== undefined && /^[\w./@-]+$/.test(word)) missing.add(absent);
      return;
    }
    const text = tree.read(path) ?? "";
    const kind = fileKind(path, text);
    const isWork =
      into !== undefined ||
      entries.has(path) ||
      (!isTestLike(path) && tested.has(stemOf(path).toLowerCase()) && kind !== "shell");
    if (isWork) {
      // It is the subject, and what it is given and compared with is the measure.
      for (const operand of operands)
        for (const each of namedBy(tree, operand, places(context)).files) if (!isCode(fileKind(each))) own.add(each);
      return;
    }
    own.add(path);
    if (kind === "shell" || (kind === "data" && !text.startsWith("#!") && plainName(word) === nameOf(path))) {
      followText(text, deeper(context, folderOf(path)));
    }
    const { code, hasUnknown } = kind === "shell" ? { code: [], hasUnknown: false } : reaches(path);
    if (kind === "shell" || code.length > 0 || hasUnknown) takeOwn(operands, context);
    else takeWork(operands, context);
  }

  function runScripts({ args, tool }: ReadCommand, context: Context): void {
    if (/^(?:ci|install|i|add|pack|publish|audit|ls|outdated)$/.test(args[0] ?? "")) {
      // Installing runs the scripts of the project's own life.
      return runNamed(["preinstall", "install", "postinstall", "prepare", "prepublish"], context);
    }
    runsTests ||= /^(?:turbo|nx|lerna|wireit)$/.test(tool);
    const words = args.map((word) => word.replace(/^npm:/, ""));
    runNamed(
      words.flatMap((word) => [
        word,
        `pre${word}`,
        `post${word}`,
        ...(word === "t" || word === "tst" ? ["test", "pretest", "posttest"] : []),
      ]),
      context,
    );
  }

  function runNamed(names: readonly string[], context: Context): void {
    const wantedNames = new Set(names);
    for (const name of names) packageWords.add(name);
    const matches = names.filter((name) => name.includes("*")).map((name) => name.replaceAll("*", ""));
    for (const path of tree.paths) {
      if (nameOf(path) !== "package.json") continue;
      // Options such as `-w`, `--prefix` and `--filter` run those of other packages.
      const isNear = foldersUp(context.cwd).includes(folderOf(path)) || isBelow(path, context.cwd);
      const list = isNear ? readPackage(tree.read(path))?.["scripts"] : undefined;
      if (typeof list !== "object" || list === null) continue;
      for (const [name, line] of Object.entries(list)) {
        if (
          typeof line !== "string" ||
          !(wantedNames.has(name) || matches.some((each) => each !== "" && name.startsWith(each)))
        )
          continue;
        scripts.set(path, (scripts.get(path) ?? new Set()).add(name));
        followText(line, { ...deeper(context, folderOf(path)), cwd: folderOf(path) });
      }
    }
  }

  function runMake(args: readonly string[], context: Context): void {
    const folder = joined(context.cwd, valueOf(args, "-C", "--directory") ?? "") ?? context.cwd;
    const named = valueOf(args, "-f", "--file", "--makefile");
    const path = (named === undefined ? ["GNUmakefile", "makefile", "Makefile"] : [named])
      .map((name) => joined(folder, name) ?? "")
      .find((each) => tree.has(each));
    if (path === undefined) {
      missing.add(joined(folder, named ?? "Makefile") ?? "Makefile");
      return;
    }
    const inner = { ...deeper(context, folderOf(path)), cwd: folder };
    let text = tree.read(path) ?? "";
    own.add(path);
    const open = [...readMakefile(text).includes];
    for (const word of open.slice(0, 100)) {
      for (const each of namedBy(tree, word, [folder, folderOf(path)]).files) {
        if (own.has(each)) continue;
        own.add(each);
        text += `\n${tree.read(each) ?? ""}`;
      }
    }
    targets.push(...madeBy(tree, readMakefile(text).rules, folder));
    const goals = args.filter(
      (word, index) =>
        !word.startsWith("-") &&
        !word.includes("=") &&
        !/^(?:-C|-f|-j|--directory|--file|--makefile)$/.test(args[index - 1] ?? ""),
    );
    for (const line of recipesOf(readMakefile(text), goals)) followText(line, inner);
  }

  function runTasks(path: string, context: Context): void {
    own.add(path);
    const lines = (tree.read(path) ?? "")
      .split("\n")
      .map((line) => line.replace(/^\s*(?:-\s+)?(?:(?:cmd|sh|run|commands?|cmds)\s*[:=]\s*)?@?/, ""));
    followText(lines.join("\n"), { ...deeper(context, folderOf(path)), cwd: folderOf(path) });
  }
}

function valueOf(args: readonly string[], ...names: readonly string[]): string | undefined {
  const at = args.findIndex((word) => names.includes(word));
  if (at !== -1) return args[at + 1];
  const joinedWord = args.find((word) => names.some((name) => name.startsWith("--") && word.startsWith(`${name}=`)));
  return joinedWord?.slice(joinedWord.indexOf("=") + 1);
}

function isRunner(read: ReadCommand | undefined): boolean {
  return read?.kind === "shell" || read?.kind === "interpreter";
}

/** The patterns of what `find` finds; none where nothing of it is run. */
function foundBy([, ...args]: readonly string[], isRun: boolean): string[] {
  const at = args.findIndex((word) => /^[-(!]/.test(word));
  const [places, tests] = at === -1 ? [args, []] : [args.slice(0, at), args.slice(at)];
  const exec = tests.findIndex((word) => /^-(?:exec|execdir|ok)$/.test(word));
  const runs = exec === -1 ? undefined : readCommand(tests.slice(exec + 1));
  if (!isRun && !(isRunner(runs) && runs?.args[0] === "{}")) return [];
  const names = tests.flatMap((word, index) => (tests[index - 1] === "-name" ? [word] : []));
  const all = names.length === 0 ? ["*"] : names;
  return (places.length === 0 ? ["."] : places).flatMap((place) => all.map((name) => `${place}/**/${name}`));
}
