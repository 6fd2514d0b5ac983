// Serves the file requests of a session: inside of its folders only, and never a protected file or one of Tutti's own state.

import { readOffLimits } from "../../agent/workspace/off-limits.ts";
import { exactText } from "../../agent/workspace/text-file.ts";
import { readContent, readingFile, replaceFile, withFile } from "../../agent/workspace/workspace-file.ts";
import { fileError, resolvePath } from "../../agent/workspace/resolve-path.ts";
import { shownLines } from "../../agent/tools/call-look.ts";
import { escapeInvisible } from "../../core/escape-invisible.ts";
import { unifiedDiff } from "../../core/unified-diff.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { Approver } from "./approver.ts";
import { ReadFileRequest, WriteFileRequest } from "./acp-frames.ts";

export interface FilesContext {
  readonly roots: readonly string[];
  readonly offLimits: readonly string[];
  readonly approver: Approver;
  /** Real paths of the files whose change was allowed already. */
  readonly allowed: ReadonlySet<string>;
}

export async function readFile(params: unknown, context: FilesContext): Promise<{ readonly content: string }> {
  const { path, line, limit } = ReadFileRequest.parse(params);
  const text = await textOf(path, context);
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

export async function writeFile(params: unknown, context: FilesContext): Promise<null> {
  const { path, content } = WriteFileRequest.parse(params);
  const { path: real } = await resolvePath(path, context.roots);
  if (!context.allowed.has(real)) {
    const before = await textOf(path, context).catch(() => "");
    const verdict = await context.approver.decide({
      tool: "acp.write",
      effect: { effects: ["write"], confined: true },
      question: () =>
        [`May the session change ${escapeInvisible(real)}?`, ...shownLines(unifiedDiff(before, content))].join("\n"),
      details: { path: real },
    });
    if (!verdict.allowed) throw new TuttiError("refused", verdict.reason);
  }
  const use = { roots: context.roots, offLimits: readOffLimits(context.offLimits), to: "make" } as const;
  await withFile(path, use, (file) => replaceFile(file, content)).catch((thrown: unknown) => {
    throw fileError(thrown, path);
  });
  return null;
}
