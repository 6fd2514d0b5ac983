// `tutti diff`: shows the work of a task as git knows it: its commits, the changed files, and the patch.
import type { Host } from "../../host/host.ts";
import { largestPatch, type WorkspaceDiff } from "../../protocol/api/workspace-shapes.ts";
import { errorTable } from "../../protocol/error.ts";
import { paintedPatch } from "../terminal/diff-line.ts";
import { warn } from "../terminal/output.ts";
import { printableName } from "../terminal/printable.ts";
import { standardOutput, writeExactLine, writeJson, writeLine, writeUnbroken } from "../terminal/screen.ts";
import { bold, dim, paint } from "../terminal/style.ts";
import { counted, size } from "../terminal/units.ts";
import { type AttemptOptions, findWorkspaceTask, withWorkspaces } from "../with-workspaces.ts";

export interface DiffOptions extends AttemptOptions {
  readonly stat?: boolean;
}

export async function diffCommand(host: Host, given: string, options: DiffOptions): Promise<void> {
  await withWorkspaces(host, options, async (tutti) => {
    const task = await findWorkspaceTask(tutti, given);
    const stat = options.stat === true;
    const diff = await tutti.workspaceDiff(task, {
      patch_bytes: stat ? 0 : largestPatch,
      attempt: options.attempt,
    });
    if (options.json === true) return writeJson(diff);
    if (stat || standardOutput.isTerminal) await writeStat(diff);
    if (!stat && diff.patch !== "") await writePatch(diff);
    const { uncommitted, protected: held } = diff;
    if (held.length > 0) warn(`protected files that nobody has approved: ${namesOf(held)}`);
    if (uncommitted.length > 0) warn(`not committed, and so not shown: ${namesOf(uncommitted)}`);
  });
}

async function writeStat({
  branch,
  kind,
  mode,
  attempt,
  commits,
  files,
  added,
  removed,
  total,
  verification,
}: WorkspaceDiff): Promise<void> {
  const lines = `${paint("green", `+${added}`)} ${paint("red", `-${removed}`)}`;
  const which = kind === "integration" ? kind : `attempt ${attempt}`;
  const counts = `${counted(total.commits, "commit")}, ${counted(total.files, "file")}`;
  await writeLine(`${bold(printableName(branch ?? mode))} ${dim(`${which}, ${counts},`)} ${lines}`);
  await writeLine(`  ${verifiedLine(verification)}`);
  for (const { id, author, subject } of commits) {
    await writeLine(`  ${dim(id.slice(0, 8))} ${printableName(subject)} ${dim(printableName(author))}`);
  }
  for (const { path, from, change, added: more, removed: less } of files) {
    const was = from === null ? "" : dim(` (was ${printableName(from)})`);
    const changed = more === null ? "binary" : `${paint("green", `+${more}`)} ${paint("red", `-${less ?? 0}`)}`;
    await writeLine(`  ${change.padEnd(9)} ${printableName(path)}${was}  ${changed}`);
  }
  const left = total.files - files.length;
  if (left > 0) await writeLine(dim(`  and ${counted(left, "more file")}`));
}

/** The reason may quote what a model or a program wrote, and is shown in one line. */
function verifiedLine({ state, reason }: WorkspaceDiff["verification"]): string {
  const said = printableName(reason);
  return state === "verified"
    ? `${paint("green", "verified")}: ${said}`
    : `${paint("yellow", "not verified")}: ${said}`;
}

/** A file or another program gets the patch as it is, for `git apply`; a terminal gets it with colours and made safe. */
async function writePatch({ patch, patch_cut, patch_changed }: WorkspaceDiff): Promise<void> {
  const text = patch.replace(/\n$/, "");
  if (!standardOutput.isTerminal) await writeExactLine(text);
  else for (const line of paintedPatch(text)) await writeUnbroken(line);
  if (patch_cut) {
    warn(`the patch is longer than ${size(largestPatch)} and ends here; use git itself on the branch for all of it`);
    if (!standardOutput.isTerminal) process.exitCode = errorTable.too_large.exit;
  }
  if (patch_changed) {
    warn("the patch cannot be applied: a secret was taken out of it, or it has text that is not UTF-8");
  }
}

/** For a message: the first few names. */
function namesOf(files: readonly string[]): string {
  const named = files.slice(0, 5).map(printableName).join(", ");
  return files.length > 5 ? `${named} and ${files.length - 5} more` : named;
}
