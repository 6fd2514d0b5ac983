// Reads the blocks of a documentation page: commands with the output that the page shows for them, and files to save.

export interface ShownCommand {
  readonly command: string;
  /** The lines of output that the page shows; undefined when it shows none for the whole block. */
  readonly output: readonly string[] | undefined;
  /** The exit status that the page says, 0 unless a note gives another. */
  readonly status: number;
}

export type DocBlock =
  | { readonly kind: "commands"; readonly line: number; readonly commands: readonly ShownCommand[] }
  | { readonly kind: "file"; readonly line: number; readonly name: string; readonly text: string }
  | { readonly kind: "json"; readonly line: number; readonly text: string }
  | { readonly kind: "not run"; readonly line: number; readonly reason: string };

interface Fenced {
  /** Of the opening fence, counted from 1. */
  readonly line: number;
  readonly language: string;
  readonly lines: readonly string[];
  /** What the comment on the line before the fence says, such as `not run: it needs a key`. */
  readonly note: { readonly name: string; readonly value: string } | undefined;
}

/** Throws for a note that it does not know, so that a misspelt one does not go unnoticed. */
export function docBlocks(page: string): DocBlock[] {
  return fencedBlocks(page).flatMap((block): DocBlock[] => {
    const { line, language, lines, note } = block;
    const text = `${lines.join("\n")}\n`;
    if (note?.name === "not run") return [{ kind: "not run", line, reason: note.value }];
    if (note?.name === "file") return [{ kind: "file", line, name: note.value, text }];
    if (language === "sh" || lines.some((each) => each.startsWith("$ "))) {
      return [{ kind: "commands", line, commands: shownCommands(block) }];
    }
    return language === "json" ? [{ kind: "json", line, text }] : [];
  });
}

function fencedBlocks(page: string): Fenced[] {
  const all = page.split("\n");
  const found: Fenced[] = [];
  for (let at = 0; at < all.length; at += 1) {
    const [, fence, language = ""] = /^(`{3,})(\w*)/.exec(all[at] ?? "") ?? [];
    if (fence === undefined) continue;
    const end = all.findIndex((line, index) => index > at && line === fence);
    if (end === -1) throw new Error(`the block in line ${at + 1} has no end`);
    found.push({ line: at + 1, language, lines: all.slice(at + 1, end), note: noteBefore(all, at) });
    at = end;
  }
  return found;
}

const noteNames = ["not run", "file", "status", "instead"];

function noteBefore(lines: readonly string[], at: number): Fenced["note"] {
  const before = lines[at - 1] === "" ? lines[at - 2] : lines[at - 1];
  const [, name, value] = /^<!-- ([a-z ]+): (.+) -->$/.exec(before ?? "") ?? [];
  if (name === undefined || value === undefined) return undefined;
  if (!noteNames.includes(name)) throw new Error(`the note in line ${at} is not one of: ${noteNames.join(", ")}`);
  return { name, value };
}

/** Commands that begin with `$ ` are followed by their output; without it, every line is a command. */
function shownCommands({ lines, note }: Fenced): ShownCommand[] {
  const status = note?.name === "status" ? Number(note.value) : 0;
  const commands = lines.some((line) => line.startsWith("$ ")) ? session(lines) : script(lines);
  const [first, ...rest] = commands.map((each) => ({ ...each, status }));
  if (first === undefined) return [];
  return [note?.name === "instead" ? { ...first, command: note.value } : first, ...rest];
}

function session(lines: readonly string[]): Omit<ShownCommand, "status">[] {
  const commands: { command: string; output: string[] }[] = [];
  for (const line of lines) {
    if (line.startsWith("$ ")) commands.push({ command: line.slice(2), output: [] });
    else commands.at(-1)?.output.push(line);
  }
  return commands;
}

function script(lines: readonly string[]): Omit<ShownCommand, "status">[] {
  const commands: string[] = [];
  let open = "";
  for (const line of lines) {
    const so = open === "" ? line : `${open}\n${line}`;
    const [, terminator] = /<<'?(\w+)'?/.exec(so) ?? [];
    const complete = terminator === undefined ? !line.endsWith("\\") : line === terminator;
    if (complete && so.trim() !== "") commands.push(so);
    open = complete ? "" : so;
  }
  return commands.map((command) => ({ command, output: undefined }));
}
