// Runs a check once more with tests of Tutti's own in its test files, and tells whether its runner reports them as they are.

import { randomBytes } from "node:crypto";
import { chmod, lstat, mkdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

import {
  canaryPrefix,
  type CanaryIds,
  mayHoldTests,
  plantCanary,
  type PlantedCanary,
  type PlantedScript,
  plantScript,
} from "../core/canary-tests.ts";
import { checkCommands } from "../core/check-commands.ts";
import { type CheckRun, judgeRun, outputOf } from "../core/check-outcome.ts";
import { calibrate, type CanaryReport, expectedOfAll, isHeld, readCanaries } from "../core/judge-canary.ts";
import { packageScripts } from "../core/package-scripts.ts";
import type { CheckFact } from "../protocol/task/evidence.ts";
import type { Checkouts, FreshCheckout, WantedTree } from "./fresh-checkout.ts";
import { type ReadyCheck, runOnce } from "./run-on-tree.ts";

export interface CanaryTrial {
  readonly checkouts: Checkouts;
  readonly attempt: WantedTree;
  /** Files that are not the work, to ask what the check loads where the work keeps silent. */
  readonly without: WantedTree | undefined;
  readonly check: ReadyCheck;
  /** How the check ended on the attempt without canaries. */
  readonly plain: CheckRun;
  /** Paths that the work changed; test files among them come first. */
  readonly changed: readonly string[];
  /** What held before on the same tree; the trial adds to it. */
  readonly held: HeldCheck[];
}

export interface HeldCheck {
  readonly argv: readonly string[];
  readonly cwd: string;
  /** Test files that the check loaded, with canaries that were reported as they are. */
  readonly files: ReadonlySet<string>;
}

type Canary = NonNullable<CheckFact["canary"]>;

/** Failing tests print much. */
const outputBytes = 1024 * 1024;
const mostFileBytes = 512 * 1024;
/** So many files get canaries in a run with everything else, and so many in a run with nothing else. */
const [mostPlanted, mostProbed, mostRead] = [30, 200, 400];

/** They look at files and load no tests. */
const observers = new Set(
  "test [ ls true false : stat find cat grep egrep fgrep rg echo printf head tail wc diff cmp jq sha256sum".split(" "),
);

export async function tryCanary(trial: CanaryTrial): Promise<Canary> {
  const { check, checkouts, attempt } = trial;
  const [program] = check.argv;
  if (observers.has(program.slice(program.lastIndexOf("/") + 1))) return "none";
  const made = await checkouts.of(attempt);
  if (!made.ready) return "none";
  const { checkout } = made;
  const paths = await trackedFiles(trial);
  // It is only read here, so the first run can have it; every other one begins with files that are made anew.
  const folder = await checkout.fresh();
  const named = await namedPaths(trial, { folder, paths });
  const files = await plantAll(folder, testPaths(paths, { named, changed: trial.changed }));
  const planted = files.slice(0, mostPlanted).flatMap(({ added }) => [...added.keys()]);
  if (isCovered(trial, planted)) return "held";
  const runner: CanaryRunner = { trial, checkout, unused: [folder] };
  const found = files.length === 0 ? undefined : await tryFiles(runner, files);
  return found ?? tryScripts(runner, await plantScripts(folder, named, files));
}

/** Whether the same command held already for more files of the same tree, and this one only names some of them. */
function isCovered({ check, held }: CanaryTrial, planted: readonly string[]): boolean {
  const { cwd } = check.fact;
  return held.some(({ argv, cwd: place, files }) => {
    const isSame = place === cwd && argv.every((word, at) => word === check.argv[at]);
    const more = check.argv.slice(argv.length).map((word) => inside(cwd, word));
    return isSame && more.length > 0 && more.every((path) => planted.includes(path) && files.has(path));
  });
}

interface CanaryRunner {
  readonly trial: CanaryTrial;
  readonly checkout: FreshCheckout;
  /** Folders with fresh files. */
  readonly unused: string[];
}

/** Undefined when the check loads none of the files. */
async function tryFiles(runner: CanaryRunner, files: readonly PlantedCanary[]): Promise<Canary | undefined> {
  const { trial } = runner;
  const planted = files.slice(0, mostPlanted);
  const ids = planted.map((file) => file.ids);
  const tests = trial.plain.tests;
  const report = await reportOf(runner, editsOf(planted, "added"));
  if (report === undefined) return undefined;
  if (isHeld(expectedOfAll(ids, report), report, tests)) {
    const { argv, fact } = trial.check;
    trial.held.push({ argv, cwd: fact.cwd, files: new Set(planted.flatMap(({ added }) => [...added.keys()])) });
    return "held";
  }
  // A project that changes the language itself does so without the work as well.
  const before = await reportWithout(trial, editsOf(planted, "added"));
  const excused = new Set(ids.flatMap(({ passes }) => (before?.states.get(passes) === "failed" ? [passes] : [])));
  if (excused.size > 0) {
    const all = expectedOfAll(ids, report);
    const expected = { ...all, passing: all.passing.filter((each) => !excused.has(each)) };
    if (isHeld(expected, report, tests)) return "held";
  }
  if (ids.some(({ passes }) => report.states.get(passes) === "failed" && !excused.has(passes))) return "spoken_for";
  // What the check loads is asked of a run in which the test files load nothing of the work.
  const alone = await reportOf(runner, editsOf(files, "alone"));
  const loads = alone === undefined ? { kind: "silent" as const } : calibrate(ids, alone);
  if (loads.kind === "false") return "spoken_for";
  if (loads.kind === "expected") return isHeld(loads.expected, report, tests) ? "held" : "spoken_for";
  const silent = await reportWithout(trial, editsOf(files, "alone"));
  return silent !== undefined && calibrate(ids, silent).kind !== "silent" ? "spoken_for" : undefined;
}

/** What the same files tell without the work. */
async function reportWithout(trial: CanaryTrial, edits: Edits): Promise<CanaryReport | undefined> {
  const runner = await runnerWithout(trial);
  return runner === undefined ? undefined : reportOf(runner, edits);
}

async function runnerWithout(trial: CanaryTrial): Promise<CanaryRunner | undefined> {
  if (trial.without === undefined) return undefined;
  const made = await trial.checkouts.of(trial.without);
  return made.ready ? { trial, checkout: made.checkout, unused: [] } : undefined;
}

async function tryScripts(runner: CanaryRunner, scripts: readonly PlantedScript[]): Promise<Canary> {
  // One of another kind may only start the others, so each is tried for itself.
  for (const script of scripts) {
    const alone = await runWith(runner, script.alone);
    if (alone === undefined || !alone.failed || !alone.output.includes(script.ids.asserts)) continue;
    const run = await runWith(runner, script.added);
    // However it ends, by itself it says so, unless the work has changed the language or ended the process.
    if (script.isWatched && run !== undefined && !hasEnded(script, run.output)) {
      const without = await runnerWithout(runner.trial);
      const before = without === undefined ? undefined : await runWith(without, script.added);
      if (before === undefined || hasEnded(script, before.output)) return "spoken_for";
    }
    const isReached = run?.output.includes(script.ids.asserts) === true;
    if (run?.failed === true && isReached) return "held";
    // What was reached and did not fail was kept from it.
    return script.mayEndEarly && !isReached ? "none" : "spoken_for";
  }
  return "none";
}

function hasEnded({ ids }: PlantedScript, output: string): boolean {
  return output.split("\n").includes(ids.passes);
}

type Edits = ReadonlyMap<string, string | null>;

function editsOf(files: readonly PlantedCanary[], kind: "added" | "alone"): Edits {
  return new Map(files.flatMap((file) => [...file[kind]]));
}

async function reportOf(runner: CanaryRunner, edits: Edits): Promise<CanaryReport | undefined> {
  const run = await runWith(runner, edits);
  return run === undefined ? undefined : readCanaries(run.output, run);
}

interface EndedRun extends Pick<CanaryReport, "failed" | "tests"> {
  readonly output: string;
}

/** Undefined when it was not run. */
async function runWith({ trial, checkout, unused }: CanaryRunner, edits: Edits): Promise<EndedRun | undefined> {
  const prepare = async (folder: string): Promise<void> => {
    for (const [path, text] of edits) await replaceFile(folder, path, text);
  };
  const wish = { on: "canary", folder: unused.pop(), prepare, maxOutputBytes: outputBytes } as const;
  const ended = await runOnce(trial.checkouts.place, checkout, trial.check, wish);
  if (!ended.ran) return undefined;
  // What the output says of failed tests does not count here: the exit status is what a check is believed by.
  const failed = ended.exit_code !== 0 && ended.exit_code !== null && !ended.timed_out;
  return { output: outputOf(ended), failed, tests: judgeRun(ended).tests };
}

/** In the checkout itself: no link leads the write elsewhere. */
async function replaceFile(folder: string, path: string, text: string | null): Promise<void> {
  const file = join(folder, path);
  const parent = dirname(file);
  if (text !== null) await mkdir(parent, { recursive: true });
  if ((await realpath(parent).catch(() => undefined)) !== parent) return;
  const found = await lstat(file).catch(() => undefined);
  await rm(file, { force: true, recursive: true });
  if (text === null) return;
  await writeFile(file, text, { flag: "wx" });
  if (found?.isFile() === true) await chmod(file, found.mode & 0o777);
}

/** Undefined for what is no file of the checkout itself. */
async function textOf(folder: string, path: string): Promise<string | undefined> {
  const file = join(folder, path);
  const found = await lstat(file).catch(() => undefined);
  if (found?.isFile() !== true || found.size > mostFileBytes) return undefined;
  if ((await realpath(file).catch(() => undefined)) !== file) return undefined;
  return readFile(file, "utf8");
}

async function trackedFiles({ checkouts: { place }, attempt }: CanaryTrial): Promise<string[]> {
  const { git, objects, signal } = place;
  const entries = await git.list(["ls-tree", "-r", "-z", "--full-tree", attempt.tree], { objects, signal });
  return entries.flatMap((entry) => (/^100\d{3} blob /.test(entry) ? [entry.slice(entry.indexOf("\t") + 1)] : []));
}

/** Files of the checkout that the words of the check name, also through scripts of package.json and a Makefile. */
async function namedPaths(
  { check }: CanaryTrial,
  { folder, paths }: { readonly folder: string; readonly paths: readonly string[] },
): Promise<string[]> {
  const { cwd } = check.fact;
  const read = async (name: string): Promise<string> => (await textOf(folder, inside(cwd, name))) ?? "";
  const commands = checkCommands(check.argv, [packageScripts(await read("package.json"))]);
  const words = commands.flatMap((command) => command.words);
  if (commands.some(({ tool }) => tool === "make" || tool === "gmake")) {
    for (const name of ["GNUmakefile", "makefile", "Makefile"])
      words.push(...(await read(name)).split(/[\s"'`;&|()]+/));
  }
  const known = new Set(paths);
  return [...new Set(words.map((word) => inside(cwd, word)))].filter((path) => known.has(path));
}

function testPaths(
  paths: readonly string[],
  { named, changed }: { readonly named: readonly string[]; readonly changed: readonly string[] },
): string[] {
  // A check that names its test files loads these.
  const own = named.filter(mayHoldTests);
  if (own.length > 0) return own;
  const first = new Set(changed);
  const found = paths.filter(mayHoldTests);
  return [...found.filter((path) => first.has(path)), ...found.filter((path) => !first.has(path))].slice(0, mostRead);
}

async function plantAll(folder: string, paths: readonly string[]): Promise<PlantedCanary[]> {
  const planted: PlantedCanary[] = [];
  for (const path of paths) {
    if (planted.length >= mostProbed) break;
    const text = await textOf(folder, path);
    const file = text === undefined ? undefined : plantCanary({ path, text }, newIds());
    if (file !== undefined) planted.push(file);
  }
  return planted;
}

/** Scripts for a shell come last, because they may only start the others. */
async function plantScripts(
  folder: string,
  named: readonly string[],
  files: readonly PlantedCanary[],
): Promise<PlantedScript[]> {
  const known = new Set(files.flatMap(({ added }) => [...added.keys()]));
  const isShell = (path: string): boolean => path.endsWith("sh");
  const ordered = named
    .filter((path) => !known.has(path))
    .toSorted((one, other) => Number(isShell(one)) - Number(isShell(other)));
  const scripts: PlantedScript[] = [];
  for (const path of ordered.slice(0, 3)) {
    const text = await textOf(folder, path);
    const script = text === undefined ? undefined : plantScript({ path, text }, newIds());
    if (script !== undefined) scripts.push(script);
  }
  return scripts;
}

function newIds(): CanaryIds {
  const id = (): string => canaryPrefix + randomBytes(8).toString("hex");
  return { asserts: id(), throws: id(), passes: id() };
}

function inside(cwd: string, path: string): string {
  const parts: string[] = [];
  for (const part of `${cwd}/${path}`.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return parts.join("/");
}
