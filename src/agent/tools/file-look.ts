// Looks at a file that a call would change: whether it is protected, what would change in it, and what its content is now.

import type { BigIntStats } from "node:fs";
import type { FileHandle } from "node:fs/promises";

import { protectedReason } from "../../core/protected-path.ts";
import { unifiedDiff } from "../../core/unified-diff.ts";
import { errno } from "../../core/errno.ts";
import { TuttiError } from "../../protocol/error.ts";
import { readOffLimits } from "../workspace/off-limits.ts";
import { protectedPart } from "../workspace/protected-files.ts";
import { resolvePath } from "../workspace/resolve-path.ts";
import { exactText } from "../workspace/text-file.ts";
import {
  type FileContent,
  readContent,
  readingFile,
  withFile,
  type WorkspaceFile,
} from "../workspace/workspace-file.ts";
import { type CallLook, type LookContext, sha256, shownLines } from "./call-look.ts";
import { escapeInvisible } from "../../core/escape-invisible.ts";
import { inLine } from "../../core/foreign-words.ts";

/** The text of the file after the call, or a sentence that says why the call will change nothing. */
type NewText = (before: string) => { readonly text: string } | { readonly problem: string };

export async function lookAtFile(path: string, context: LookContext, newText: NewText): Promise<CallLook> {
  const { rights, isAsked } = context;
  let part: string | undefined;
  let resolved: string;
  try {
    const found = await resolvePath(path, rights.roots);
    resolved = found.path;
    part = await protectedPart(found);
  } catch (thrown) {
    // The call itself will fail in the same way, and the model is told then.
    if (!(thrown instanceof TuttiError)) throw thrown;
    return { protected: [], text: willFail(thrown) };
  }
  const protectedFiles = part === undefined ? [] : [resolved];
  if (!isAsked(part !== undefined)) return { protected: protectedFiles, text: "" };
  let now: FileContent | undefined;
  try {
    now = await contentNow(path, { roots: rights.roots, offLimits: context.offLimits });
  } catch (thrown) {
    if (!(thrown instanceof TuttiError)) throw thrown;
    return { protected: protectedFiles, text: `file: ${inLine(resolved)}\n${willFail(thrown)}` };
  }
  const lines = [
    `file: ${inLine(resolved)} (${now === undefined ? "a new file" : `exists, ${now.size} bytes`})`,
    ...(part === undefined ? [] : [protectedText(resolved, part)]),
    // Of a protected file all is shown: one line in the middle of a program or a rule is enough to do harm.
    ...changeLines(now, newText, part === undefined ? shownLines : allLines),
  ];
  return { protected: protectedFiles, text: lines.join("\n"), file: { path: resolved, content: now?.mark ?? null } };
}

function willFail({ message }: TuttiError): string {
  return `the call will fail: ${inLine(message)}`;
}

function protectedText(path: string, part: string): string {
  const what = path === part ? "this file" : `a file in ${inLine(part)}`;
  return `protected: ${what} is protected, because ${protectedReason(part)}`;
}

export interface Place {
  readonly roots: readonly string[];
  readonly offLimits: readonly string[];
}

/** Undefined when there is no such file. */
export async function contentNow(path: string, { roots, offLimits }: Place): Promise<FileContent | undefined> {
  try {
    const use = { roots, offLimits: readOffLimits(offLimits), to: "read" } as const;
    return await withFile(path, use, (file) => readingFile(file, readContent));
  } catch (thrown) {
    if (thrown instanceof TuttiError && thrown.code === "not_found") return undefined;
    throw thrown;
  }
}

export type Shown = (lines: readonly string[]) => string[];

export const allLines: Shown = (lines) => lines.map(escapeInvisible);

export function changeLines(now: FileContent | undefined, newText: NewText, shown: Shown): string[] {
  const before = now === undefined ? "" : now.bytes === undefined ? undefined : exactText(now.bytes);
  const change = newText(before ?? "");
  if ("problem" in change) return [`nothing will change: ${inLine(change.problem)}`];
  const hash = `the SHA-256 of the new content is ${sha256(change.text)}`;
  if (before === undefined) {
    return [
      "the old content is not text or too large to compare; the new content is:",
      ...shown(unifiedDiff("", change.text)),
      hash,
    ];
  }
  const diff = unifiedDiff(before, change.text);
  return diff.length === 0 ? ["the content stays the same"] : [...shown(diff), hash];
}

/** Fails when the file is not what the person saw. Returns its state, null for no file, so that a change after this is noticed too. */
export async function refuseUnlessAsShown(
  file: WorkspaceFile,
  shown: CallLook["file"],
): Promise<BigIntStats | null | undefined> {
  if (shown === undefined) return undefined;
  const read = async (handle: FileHandle, stats: BigIntStats) => ({ stats, ...(await readContent(handle, stats)) });
  const now = await readingFile(file, read).catch((thrown: unknown) => {
    if (errno(thrown) === "ENOENT") return undefined;
    throw thrown;
  });
  if (shown.path === file.path && shown.content === (now?.mark ?? null)) return now?.stats ?? null;
  throw new TuttiError(
    "conflict",
    `${file.path} is not what the person saw who approved the call, because it was changed meanwhile; nothing was changed, look at the file and call again`,
  );
}
