// What a write would make of a file as it is now, how a person is shown it, and the one write that a yes to it frees.

import { changeLines, contentNow, type Place, type Shown } from "../../agent/tools/file-look.ts";
import { areShownWhole, sha256, shownLines } from "../../agent/tools/call-look.ts";
import { resolvePath } from "../../agent/workspace/resolve-path.ts";
import { exactText } from "../../agent/workspace/text-file.ts";
import type { FileContent } from "../../agent/workspace/workspace-file.ts";
import { inLine } from "../../core/foreign-words.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { Diff } from "./acp-frames.ts";

export interface FileChange {
  /** With links resolved. */
  readonly path: string;
  /** Absent when there is no such file yet. */
  readonly now: FileContent | undefined;
  /** The whole text of the file after the change. */
  readonly text: string;
}

export async function changeNow(path: string, text: string, place: Place): Promise<FileChange> {
  const { path: real } = await resolvePath(path, place.roots);
  return { path: real, now: await contentNow(real, place), text };
}

/**
 * A change as a session tells it, as a change of the file on the disk. Some agents show whole files and some only the
 * piece that they replace. Undefined when the file does not have that piece exactly once, or cannot be read.
 */
export async function changeTold({ path, oldText, newText }: Diff, place: Place): Promise<FileChange | undefined> {
  const change = await changeNow(path, newText, place).catch((thrown: unknown) => {
    if (thrown instanceof TuttiError) return undefined;
    throw thrown;
  });
  if (change === undefined || oldText === undefined || oldText === null || oldText === "") return change;
  const before = change.now?.bytes === undefined ? undefined : exactText(change.now.bytes);
  const at = before?.indexOf(oldText) ?? -1;
  if (before === undefined || at === -1 || before.includes(oldText, at + 1)) return undefined;
  return { ...change, text: `${before.slice(0, at)}${newText}${before.slice(at + oldText.length)}` };
}

export interface ShownChange {
  readonly lines: readonly string[];
  /** Nothing of the change is hidden. */
  readonly isWhole: boolean;
}

export function shownChange({ path, now, text }: FileChange, how: Shown = shownLines): ShownChange {
  let isWhole = true;
  const shown: Shown = (lines) => {
    isWhole = how !== shownLines || areShownWhole(lines);
    return how(lines);
  };
  const state = now === undefined ? "a new file" : `exists, ${now.size} bytes`;
  const lines = [`file: ${inLine(path)} (${state})`, ...changeLines(now, () => ({ text }), shown)];
  return { lines, isWhole };
}

/** What a person's yes frees until the prompt is answered: each change once, for exactly the content before and after it. */
export class FileGrants {
  readonly #changes = new Set<string>();
  readonly #reads = new Set<string>();

  allow(change: FileChange): void {
    this.#changes.add(identityOf(change));
  }

  /** Uses the grant up. */
  take(change: FileChange): boolean {
    return this.#changes.delete(identityOf(change));
  }

  /** By real path. */
  allowReading(path: string): void {
    this.#reads.add(path);
  }

  mayRead(path: string): boolean {
    return this.#reads.has(path);
  }

  end(): void {
    this.#changes.clear();
    this.#reads.clear();
  }
}

function identityOf({ path, now, text }: FileChange): string {
  return JSON.stringify([path, now?.mark ?? null, sha256(text)]);
}
