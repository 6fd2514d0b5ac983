// Reads the patch of a workspace into files, hunks and numbered lines, so that they can be shown and commented on.

export interface PatchLine {
  readonly mark: " " | "+" | "-" | "\\";
  readonly text: string;
  /** The number of the line before and after the change; null where it is not there. */
  readonly old: number | null;
  readonly fresh: number | null;
}

export interface PatchHunk {
  readonly heading: string;
  readonly lines: readonly PatchLine[];
}

export interface PatchFile {
  readonly path: string;
  /** What it was called before, when that differs. */
  readonly from: string | null;
  readonly change: "added" | "deleted" | "modified" | "renamed" | "binary";
  readonly hunks: readonly PatchHunk[];
  readonly added: number;
  readonly removed: number;
}

interface OpenFile {
  path: string;
  from: string | null;
  change: PatchFile["change"];
  hunks: { heading: string; lines: PatchLine[] }[];
  added: number;
  removed: number;
}

const hunkStart = /^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@/;

/** Lines of a hunk are counted by its heading, so that text which looks like a heading stays text. */
export function readPatch(patch: string): readonly PatchFile[] {
  const files: OpenFile[] = [];
  let file: OpenFile | undefined;
  let [old, fresh, oldLeft, freshLeft] = [0, 0, 0, 0];
  for (const line of patch.split("\n")) {
    const hunk = file?.hunks.at(-1);
    if (file !== undefined && hunk !== undefined && (oldLeft > 0 || freshLeft > 0 || line.startsWith("\\"))) {
      const mark = line.charAt(0);
      if (mark === "+" && freshLeft > 0) {
        hunk.lines.push({ mark, text: line.slice(1), old: null, fresh });
        fresh += 1;
        freshLeft -= 1;
        file.added += 1;
        continue;
      }
      if (mark === "-" && oldLeft > 0) {
        hunk.lines.push({ mark, text: line.slice(1), old, fresh: null });
        old += 1;
        oldLeft -= 1;
        file.removed += 1;
        continue;
      }
      if (mark === "\\") {
        hunk.lines.push({ mark, text: line.slice(2), old: null, fresh: null });
        continue;
      }
      if (oldLeft > 0 && freshLeft > 0 && (mark === " " || line === "")) {
        hunk.lines.push({ mark: " ", text: line.slice(1), old, fresh });
        old += 1;
        fresh += 1;
        oldLeft -= 1;
        freshLeft -= 1;
        continue;
      }
      [oldLeft, freshLeft] = [0, 0];
    }
    if (line.startsWith("diff --git ")) {
      file = { path: pathInHeader(line), from: null, change: "modified", hunks: [], added: 0, removed: 0 };
      files.push(file);
      continue;
    }
    if (file === undefined) continue;
    const start = hunkStart.exec(line);
    if (start === null) {
      noteHeader(file, line);
      continue;
    }
    [old, fresh] = [Number(start[1]), Number(start[3])];
    [oldLeft, freshLeft] = [Number(start[2] ?? 1), Number(start[4] ?? 1)];
    file.hunks.push({ heading: line, lines: [] });
  }
  return files;
}

function noteHeader(file: OpenFile, line: string): void {
  if (line.startsWith("new file")) file.change = "added";
  else if (line.startsWith("deleted file")) file.change = "deleted";
  else if (line.startsWith("rename from ")) [file.change, file.from] = ["renamed", unquoted(line.slice(12))];
  else if (line.startsWith("rename to ")) file.path = unquoted(line.slice(10));
  else if (line.startsWith("Binary files ") || line === "GIT binary patch") file.change = "binary";
  else if (line.startsWith("+++ ") && line !== "+++ /dev/null") file.path = withoutSide(line.slice(4));
  else if (line.startsWith("--- ") && line !== "--- /dev/null" && file.change === "deleted") {
    file.path = withoutSide(line.slice(4));
  }
}

/** `diff --git a/x b/x` names the path twice; the halves are equal unless the file was renamed. */
function pathInHeader(line: string): string {
  const rest = line.slice("diff --git ".length);
  return withoutSide(rest.slice(Math.ceil(rest.length / 2)));
}

function withoutSide(path: string): string {
  const plain = unquoted(path.replace(/\t$/, ""));
  return /^[ab]\//.test(plain) ? plain.slice(2) : plain;
}

/** Git quotes a path with unusual characters and writes its bytes in octal. */
function unquoted(path: string): string {
  if (!path.startsWith('"') || !path.endsWith('"')) return path;
  const bytes: number[] = [];
  const encoder = new TextEncoder();
  for (const part of path.slice(1, -1).matchAll(/\\([0-3][0-7]{2})|\\(.)|[^\\]+/gs)) {
    if (part[1] !== undefined) bytes.push(Number.parseInt(part[1], 8));
    else bytes.push(...encoder.encode(part[2] === undefined ? part[0] : (escapes[part[2]] ?? part[2])));
  }
  return new TextDecoder().decode(new Uint8Array(bytes));
}

const escapes: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r" };
