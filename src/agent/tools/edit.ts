// The tool `edit`: replaces an exact piece of a text file. If the piece is not there, it shows the most similar lines.

import { z } from "zod";

import { nearestLines } from "../../core/nearest-lines.ts";
import { TuttiError } from "../../protocol/error.ts";
import { exactText, hasCrlf } from "../workspace/text-file.ts";
import { stepTool } from "./tool.ts";
import { readOffLimits } from "../workspace/off-limits.ts";
import { lookAtFile, refuseUnlessAsShown } from "./file-look.ts";
import {
  largestText,
  readContent,
  readingFile,
  replaceFile,
  withFile,
  type WorkspaceFile,
} from "../workspace/workspace-file.ts";

const linesNamed = 10;

export const edit = stepTool({
  name: "edit",
  description:
    "Replaces a piece of a text file with another. The old piece must match exactly, spaces and line breaks included, " +
    "and must occur only once, unless all is true.",
  input: () =>
    z.strictObject({
      path: z.string().min(1),
      old: z.string().min(1),
      new: z.string(),
      all: z.boolean().nullish().describe("Replace it everywhere."),
    }),
  effects: ["write"],
  repeatable: false,
  lookOf: (input) => ({ always: true, at: (context) => lookAtFile(input.path, context, (raw) => preview(raw, input)) }),
  async run(input, { rights, offLimits, look }) {
    if (input.old === input.new)
      throw new TuttiError("invalid_input", "old and new are the same; nothing would change");
    const use = { roots: rights.roots, offLimits: readOffLimits(offLimits), to: "change" } as const;
    return withFile(input.path, { ...use, approved: look?.protected }, async (file) => {
      await refuseUnlessAsShown(file, look?.file);
      return editFile(file, input, look?.file?.content ?? undefined);
    });
  },
});

interface Change {
  readonly old: string;
  readonly new: string;
  readonly all?: boolean | null | undefined;
}

type Edited =
  | { readonly ok: true; readonly text: string; readonly replaced: number; readonly line: number | undefined }
  | { readonly ok: false; readonly problem: string; readonly hint: Readonly<Record<string, unknown>> };

/** `shown` identifies the content that a person agreed to have edited. */
async function editFile(file: WorkspaceFile, change: Change, shown: string | undefined): Promise<unknown> {
  const { raw, stats } = await readingFile(file, async (handle, found) => {
    const { bytes, mark } = await readContent(handle, found);
    if (bytes === undefined) {
      throw new TuttiError("too_large", `${file.path} has ${found.size} bytes; edit takes files up to ${largestText}`);
    }
    if (shown !== undefined && shown !== mark)
      throw new TuttiError("conflict", `${file.path} was changed meanwhile; read it again`);
    const text = exactText(bytes);
    if (text === undefined || text.includes("\0")) {
      throw new TuttiError("invalid_input", `${file.path} is not UTF-8 text; an edit would damage it`);
    }
    return { raw: text, stats: found };
  });
  const edited = applyEdit(raw, change);
  if (!edited.ok) return { path: file.path, replaced: 0, problem: edited.problem, ...edited.hint };
  await replaceFile(file, edited.text, stats);
  return { path: file.path, replaced: edited.replaced, line: edited.line };
}

function preview(raw: string, change: Change): { readonly text: string } | { readonly problem: string } {
  const edited = applyEdit(raw, change);
  return edited.ok ? { text: edited.text } : { problem: edited.problem };
}

function applyEdit(raw: string, change: Change): Edited {
  // Models see and send lines without CR. Where every line has one, it can be left out and put back without loss.
  const crlf = hasCrlf(raw);
  const plain = (text: string): string => (crlf ? text.replaceAll("\r\n", "\n") : text);
  const text = plain(raw);
  const old = plain(change.old);
  const found = offsetsOf(text, old);
  const [first] = found;
  if (first === undefined) {
    const problem = "the old piece does not occur in the file exactly like that; nothing was changed";
    return { ok: false, problem, hint: { nearest: nearestLines(text, old) } };
  }
  if (found.length > 1 && change.all !== true) {
    const lines = lineNumbers(text, found.slice(0, linesNamed));
    const problem = `the old piece occurs ${found.length} times; add lines around it, or set all; nothing was changed`;
    return { ok: false, problem, hint: { lines } };
  }
  const edited = text.split(old).join(plain(change.new));
  const [line] = lineNumbers(text, [first]);
  return { ok: true, text: crlf ? edited.replaceAll("\n", "\r\n") : edited, replaced: found.length, line };
}

function offsetsOf(text: string, piece: string): number[] {
  const offsets: number[] = [];
  for (let at = text.indexOf(piece); at !== -1; at = text.indexOf(piece, at + piece.length)) offsets.push(at);
  return offsets;
}

function lineNumbers(text: string, offsets: readonly number[]): number[] {
  let line = 1;
  let counted = 0;
  return offsets.map((offset) => {
    for (let at = text.indexOf("\n", counted); at !== -1 && at < offset; at = text.indexOf("\n", at + 1)) line += 1;
    counted = offset;
    return line;
  });
}
