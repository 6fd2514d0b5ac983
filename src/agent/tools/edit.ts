// The tool `edit`: replaces an exact piece of a text file. If the piece is not there, it shows the most similar lines.

import { z } from "zod";

import { nearestLines } from "../../core/nearest-lines.ts";
import { TuttiError } from "../../protocol/error.ts";
import { exactText, hasCrlf } from "../workspace/text-file.ts";
import { stepTool } from "./tool.ts";
import { readOffLimits } from "../workspace/off-limits.ts";
import { readingFile, replaceFile, withFile, type WorkspaceFile } from "../workspace/workspace-file.ts";

/** Nobody writes larger files by hand. */
const largest = 8 * 2 ** 20;
const linesNamed = 10;

export const edit = stepTool({
  name: "edit",
  description:
    "Replaces a piece of a text file with another. The old piece must match exactly, spaces and line breaks included, " +
    "and must occur only once, unless all is true.",
  input: z.strictObject({
    path: z.string().min(1),
    old: z.string().min(1),
    new: z.string(),
    all: z.boolean().nullish().describe("Replace it everywhere."),
  }),
  effects: ["write"],
  repeatable: false,
  async run(input, { rights, offLimits }) {
    if (input.old === input.new)
      throw new TuttiError("invalid_input", "old and new are the same; nothing would change");
    const use = { roots: rights.roots, offLimits: readOffLimits(offLimits), to: "change" } as const;
    return withFile(input.path, use, (file) => editFile(file, input));
  },
});

interface Change {
  readonly old: string;
  readonly new: string;
  readonly all?: boolean | null | undefined;
}

async function editFile(file: WorkspaceFile, change: Change): Promise<unknown> {
  const { raw, stats } = await readingFile(file, async (handle, found) => {
    if (found.size > BigInt(largest)) {
      throw new TuttiError("too_large", `${file.path} has ${found.size} bytes; edit takes files up to ${largest}`);
    }
    const text = exactText(await handle.readFile());
    if (text === undefined || text.includes("\0")) {
      throw new TuttiError("invalid_input", `${file.path} is not UTF-8 text; an edit would damage it`);
    }
    return { raw: text, stats: found };
  });
  // Models see and send lines without CR. Where every line has one, it can be left out and put back without loss.
  const crlf = hasCrlf(raw);
  const plain = (text: string): string => (crlf ? text.replaceAll("\r\n", "\n") : text);
  const text = plain(raw);
  const old = plain(change.old);
  const found = offsetsOf(text, old);
  const [first] = found;
  if (first === undefined) {
    const problem = "the old piece does not occur in the file exactly like that; nothing was changed";
    return { path: file.path, replaced: 0, problem, nearest: nearestLines(text, old) };
  }
  if (found.length > 1 && change.all !== true) {
    const lines = lineNumbers(text, found.slice(0, linesNamed));
    const problem = `the old piece occurs ${found.length} times; add lines around it, or set all; nothing was changed`;
    return { path: file.path, replaced: 0, problem, lines };
  }
  const edited = text.split(old).join(plain(change.new));
  await replaceFile(file, crlf ? edited.replaceAll("\n", "\r\n") : edited, stats);
  return { path: file.path, replaced: found.length, line: lineNumbers(text, [first])[0] };
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
