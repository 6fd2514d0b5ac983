// Compares what a session claims with what is there. A finding is never evidence for anything; it tells what is missing.

import type { TestCounts } from "../protocol/task/evidence.ts";
import type { Claims } from "./find-claims.ts";
import { escapeControls } from "./escape-controls.ts";

export interface ClaimFacts {
  /** Paths that differ from the base, or the first of them. */
  readonly changed: readonly string[];
  /** How many differ. */
  readonly changedCount: number;
  /** Of the claimed files those that the commit has, as they were written. */
  readonly existingFiles: ReadonlySet<string>;
  readonly existingCommits: ReadonlySet<string>;
  /** Of the claimed pull requests and comments: whether each exists. One that could not be looked up is not in it. */
  readonly lookedUp: ReadonlyMap<string, boolean>;
  /** The tool calls that the log has. */
  readonly calls: number;
  /** The commands among them, as they were run. */
  readonly commands: readonly string[];
  /** What Tutti's own checks counted on the same commit. */
  readonly tests: readonly TestCounts[];
  /** How many files the task asks to be changed, where it says a number. */
  readonly items?: number | undefined;
  /** What the commit has in the folders that are said to have been changed as a whole. */
  readonly inFolders?: readonly string[];
}

type FindingKind = "file" | "commit" | "pr" | "comment" | "count" | "call" | "tests" | "effort";

export interface ClaimFinding {
  readonly kind: FindingKind;
  readonly sentence: string;
}

export function checkClaims(claims: Claims, facts: ClaimFacts): ClaimFinding[] {
  return [
    ...effort(facts),
    ...files(claims, facts),
    ...claims.commits
      .filter((id) => !facts.existingCommits.has(id))
      .map((id) => finding("commit", `It names the commit ${id}, which is not part of its work.`)),
    ...claims.pullRequests
      .filter((url) => facts.lookedUp.get(url) === false)
      .map((url) => finding("pr", `It names the pull request ${url}, which does not exist in this repository.`)),
    ...claims.comments
      .filter((url) => facts.lookedUp.get(url) === false)
      .map((url) => finding("comment", `It names the comment ${url}, which does not exist.`)),
    ...counts(claims, facts),
    ...wholeFolders(claims, facts),
    ...calls(claims, facts),
    ...tests(claims, facts),
  ];
}

/** What the session did, beside its claim that it is done. */
export function effortSentence({
  calls,
  commands,
  changedCount,
}: Pick<ClaimFacts, "calls" | "commands" | "changedCount">): string {
  return `${counted(calls, "tool call")}, ${counted(commands.length, "command")}, ${counted(changedCount, "changed file")}.`;
}

function effort({ calls }: ClaimFacts): ClaimFinding[] {
  return calls > 0 ? [] : [finding("effort", "It says that it is done, and it made no tool call at all.")];
}

function files({ files: claimed }: Claims, { changed, changedCount, existingFiles }: ClaimFacts): ClaimFinding[] {
  const isKnown = changed.length === changedCount;
  return claimed.flatMap(({ path, as }) => {
    const isChanged = changed.some((each) => isSamePath(each, path));
    if (isChanged) return [];
    if (!existingFiles.has(path))
      return [finding("file", `It says that it ${verb(as)} ${path}, and there is no such file.`)];
    return isKnown ? [finding("file", `It says that it ${verb(as)} ${path}, and the file is as it was.`)] : [];
  });
}

function verb(as: "made" | "changed"): string {
  return as === "made" ? "made" : "changed";
}

/** Sessions write paths from their own folder or from the root of the machine. */
export function isSamePath(real: string, written: string): boolean {
  const plain = written.replace(/^(?:\.\/)+/, "");
  return real === plain || real.endsWith(`/${plain}`) || plain.endsWith(`/${real}`);
}

function counts({ fileCounts, everyFile }: Claims, { changedCount, items }: ClaimFacts): ClaimFinding[] {
  const most = Math.max(0, ...fileCounts);
  if (most > changedCount) {
    return [finding("count", `It says that it changed ${most} files, and git counts ${changedCount}.`)];
  }
  if (items === undefined || changedCount >= items) return [];
  const said = everyFile ? "It says that it changed every file; the" : "The";
  return [finding("count", `${said} task is about ${items} files, and git counts ${changedCount} changed.`)];
}

const page = /\.(?:mdx?|markdown|html?|rst|adoc|txt)$/i;

function wholeFolders(
  { wholeFolders: claimed }: Claims,
  { changed, changedCount, inFolders = [] }: ClaimFacts,
): ClaimFinding[] {
  // Which files were left as they are is not known where not all of those that changed are.
  if (changed.length !== changedCount) return [];
  const known = new Set(changed);
  return claimed.flatMap(({ path, of }) => {
    const all = inFolders.filter((file) => file.startsWith(`${path}/`) && (of === "files" || page.test(file)));
    const left = all.filter((file) => !known.has(file)).length;
    if (left === 0) return [];
    const done = all.length - left;
    return [finding("count", `It says that it changed all ${of} in ${path}, and git counts ${done} of ${all.length}.`)];
  });
}

function calls({ commands: claimed, writtenCalls }: Claims, { commands }: ClaimFacts): ClaimFinding[] {
  const ran = commands.map(plainCommand);
  return [
    ...(writtenCalls ? [finding("call", "Its text has a tool call that was written down and never ran.")] : []),
    ...claimed
      .filter((command) => !ran.some((each) => each.includes(plainCommand(command))))
      .map((command) => finding("call", `It says that it ran \`${command}\`, and the log has no such command.`)),
  ];
}

function plainCommand(command: string): string {
  return command.replaceAll(/["'`\s]+/g, " ").trim();
}

function tests({ testCounts, testsPass }: Claims, { tests: observed, commands }: ClaimFacts): ClaimFinding[] {
  const copied = testCounts.filter(
    (claimed) =>
      observed.length > 0 &&
      !observed.some(({ passed, failed, skipped }) => [passed, passed + failed + skipped].includes(claimed)),
  );
  return [
    ...(testsPass && commands.length === 0
      ? [finding("tests", "It says that tests pass, and it ran no command.")]
      : []),
    ...copied.map((claimed) =>
      finding(
        "tests",
        `It says that ${claimed} tests passed, and the check counted ${observed.map(({ passed }) => passed).join(", ")}.`,
      ),
    ),
  ];
}

function counted(amount: number, what: string): string {
  return `${amount} ${what}${amount === 1 ? "" : "s"}`;
}

function finding(kind: FindingKind, sentence: string): ClaimFinding {
  return { kind, sentence: escapeControls(sentence).toWellFormed() };
}
