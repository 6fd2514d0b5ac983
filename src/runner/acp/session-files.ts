// Serves the file requests of a session: inside of its folders only, and never a protected file or one of Tutti's own state.

import { refuseUnlessAsShown } from "../../agent/tools/file-look.ts";
import { readOffLimits } from "../../agent/workspace/off-limits.ts";
import { refuseProtected } from "../../agent/workspace/protected-files.ts";
import { exactText } from "../../agent/workspace/text-file.ts";
import { readContent, readingFile, replaceFile, withFile } from "../../agent/workspace/workspace-file.ts";
import { fileError, resolvePath } from "../../agent/workspace/resolve-path.ts";
import { inLine } from "../../core/foreign-words.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { Approver } from "./approver.ts";
import { ReadFileRequest, WriteFileRequest } from "./acp-frames.ts";
import { changeNow, type FileGrants, shownChange } from "./file-change.ts";

export interface FilesContext {
  readonly roots: readonly string[];
  readonly offLimits: readonly string[];
  readonly approver: Approver;
  readonly grants: FileGrants;
}

export async function readFile(params: unknown, context: FilesContext): Promise<{ readonly content: string }> {
  const { path, line, limit } = ReadFileRequest.parse(params);
  const { path: real } = await resolvePath(path, context.roots);
  if (!context.grants.mayRead(real)) {
    const verdict = await context.approver.decide({
      tool: "acp.read",
      effect: { effects: ["read"], confined: true },
      question: () => `May the session read ${inLine(real)}?`,
      details: { call: { path } },
    });
    if (!verdict.allowed) throw new TuttiError("refused", verdict.reason);
  }
  // The path that was agreed to: a link that was made meanwhile does not change it.
  const text = await textOf(real, context);
  if (line === undefined && limit === undefined) return { content: text };
  const from = Math.max(0, (line ?? 1) - 1);
  return {
    content: text
      .split("\n")
      .slice(from, limit === undefined || limit === null ? undefined : from + limit)
      .join("\n"),
  };
}

async function textOf(path: string, { roots, offLimits }: FilesContext): Promise<string> {
  const use = { roots, offLimits: readOffLimits(offLimits), to: "read" } as const;
  const { bytes } = await withFile(path, use, (file) => readingFile(file, readContent)).catch((thrown: unknown) => {
    throw fileError(thrown, path);
  });
  const text = bytes === undefined ? undefined : exactText(bytes);
  if (text === undefined) throw new TuttiError("refused", `${path} is not text, or it is too large to be read at once`);
  return text;
}

/** A yes to a request for permission frees a write only if it showed exactly this change; any other is asked about here. */
export async function writeFile(params: unknown, { roots, offLimits, approver, grants }: FilesContext): Promise<null> {
  const { path, content } = WriteFileRequest.parse(params);
  await refuseProtected(await resolvePath(path, roots), []);
  const change = await changeNow(path, content, { roots, offLimits });
  if (!grants.take(change)) {
    const verdict = await approver.decide({
      tool: "acp.write",
      effect: { effects: ["write"], confined: true },
      question: () => ["May the session change this file?", ...shownChange(change).lines].join("\n"),
      details: { call: { path, content } },
    });
    if (!verdict.allowed) throw new TuttiError("refused", verdict.reason);
  }
  const use = { roots, offLimits: readOffLimits(offLimits), to: "make" } as const;
  const shown = { path: change.path, content: change.now?.mark ?? null };
  await withFile(path, use, async (file) => replaceFile(file, content, await refuseUnlessAsShown(file, shown))).catch(
    (thrown: unknown) => {
      throw fileError(thrown, path);
    },
  );
  return null;
}
