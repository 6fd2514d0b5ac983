// Reads the few signs of Markdown that help a reader most: blocks of code, code in a line, and strong words. All else stays as it is.

export interface MarkupBlock {
  readonly kind: "text" | "code";
  readonly text: string;
}

export interface InlinePiece {
  readonly kind: "plain" | "code" | "strong";
  readonly text: string;
}

const fence = /^ {0,3}(```+|~~~+)[^`]*$/;

/** A block of code begins and ends with a line of the same sign; one that never ends is text. */
export function readBlocks(text: string): readonly MarkupBlock[] {
  if (!text.includes("```") && !text.includes("~~~")) return text === "" ? [] : [{ kind: "text", text }];
  const lines = text.split("\n");
  // The last line that could end a block: without one, nothing is looked for twice.
  const lastOf = new Map<string, number>();
  for (const [at, line] of lines.entries()) {
    const sign = line.trim();
    if (/^(?:`{3,}|~{3,})$/.test(sign)) lastOf.set(sign.slice(0, 3), at);
  }
  const blocks: MarkupBlock[] = [];
  let plain: string[] = [];
  const flush = (): void => {
    const said = plain.join("\n").replace(/^\n+|\n+$/g, "");
    if (said.trim() !== "") blocks.push({ kind: "text", text: said });
    plain = [];
  };
  for (let at = 0; at < lines.length; at += 1) {
    const sign = fence.exec(lines[at] ?? "")?.[1];
    if (sign === undefined || (lastOf.get(sign.slice(0, 3)) ?? 0) <= at) {
      plain.push(lines[at] ?? "");
      continue;
    }
    let end = at + 1;
    while (end < lines.length && !isEnd(lines[end] ?? "", sign)) end += 1;
    if (end === lines.length) {
      plain.push(lines[at] ?? "");
      continue;
    }
    flush();
    blocks.push({ kind: "code", text: lines.slice(at + 1, end).join("\n") });
    at = end;
  }
  flush();
  return blocks;
}

function isEnd(line: string, sign: string): boolean {
  const found = line.trim();
  return found.length >= sign.length && found === sign.charAt(0).repeat(found.length);
}

/** Signs within one line; both have to be there, right at what they enclose. */
const inline = /`([^`\n]{1,400})`|\*\*(?!\s)([^*\n]{1,400})(?<!\s)\*\*/g;

export function readInline(text: string): readonly InlinePiece[] {
  if (!text.includes("`") && !text.includes("**")) return [{ kind: "plain", text }];
  const pieces: InlinePiece[] = [];
  let from = 0;
  for (const match of text.matchAll(inline)) {
    if (match.index > from) pieces.push({ kind: "plain", text: text.slice(from, match.index) });
    const [whole, code, strong] = match;
    pieces.push(code === undefined ? { kind: "strong", text: strong ?? "" } : { kind: "code", text: code });
    from = match.index + whole.length;
  }
  if (from < text.length) pieces.push({ kind: "plain", text: text.slice(from) });
  return pieces;
}
