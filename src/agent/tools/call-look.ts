// What a call would do, looked up and recorded before a person is asked. The approval holds for exactly this.

import { createHash } from "node:crypto";

import { z } from "zod";

import type { Rights } from "../../core/rights.ts";
import { AllowedCalls } from "../../protocol/invocation/standing-approval.ts";
import { escapeInvisible } from "../../core/escape-invisible.ts";
import { quoted } from "../../core/foreign-words.ts";

export const CallLook = z.object({
  /** Exact paths of the protected files that the call would change. */
  protected: z.array(z.string()),
  /** What the person who is asked reads; empty when nobody is asked. */
  text: z.string(),
  /** The file that the text shows a change of, and what identifies its content; null when there was no file. */
  file: z.object({ path: z.string(), content: z.string().nullable() }).optional(),
  /** The folder in which a program is to run. */
  cwd: z.string().optional(),
  /** The program that is to run, where nothing confines it. */
  program: z.string().optional(),
  /** The calls that an answer of "always" would allow; null when a person must decide each time. By the tool alone when absent. */
  calls: AllowedCalls.nullable().optional(),
  /** The standing approval that allows the call, so that nobody is asked. */
  allowed: z.object({ id: z.string(), text: z.string() }).optional(),
});
export type CallLook = z.infer<typeof CallLook>;

export interface LookContext {
  readonly rights: Rights;
  readonly offLimits: readonly string[];
  /** Whether a person is going to be asked, given whether the call changes protected files. Only then a text is needed. */
  readonly isAsked: (changesProtected: boolean) => boolean;
}

export interface Look {
  /** Whether the call must be looked at even when its effects need no approval, because it may change a protected file. */
  readonly always: boolean;
  at(context: LookContext): Promise<CallLook>;
}

const headLines = 160;
const tailLines = 60;
const longestLine = 2_000;

/** Long text keeps its beginning and its end. What is hidden is counted and identified by the hash of the whole. */
export function shownLines(lines: readonly string[]): string[] {
  const short = lines.map(shownLine);
  if (short.length <= headLines + tailLines) return short;
  const hidden = short.length - headLines - tailLines;
  const hash = sha256(lines.join("\n"));
  return [
    ...short.slice(0, headLines),
    `[… ${hidden} lines are hidden here; the SHA-256 of all ${short.length} lines is ${hash}; the details have all of them …]`,
    ...short.slice(-tailLines),
  ];
}

/** Whether `shownLines` hides nothing of them. */
export function areShownWhole(lines: readonly string[]): boolean {
  return lines.length <= headLines + tailLines && lines.every((line) => line.length <= longestLine);
}

function shownLine(line: string): string {
  if (line.length <= longestLine) return escapeInvisible(line);
  const half = longestLine / 2;
  const hidden = line.length - 2 * half;
  return escapeInvisible(
    `${line.slice(0, half)}[… ${hidden} characters are hidden here; the SHA-256 of the line is ${sha256(line)} …]${line.slice(-half)}`,
  );
}

/** For a call without a look of its own: its arguments exactly as the tool gets them, and all of them. */
export function argumentsText(input: unknown): string {
  return `arguments:\n${quoted(JSON.stringify(input, undefined, 2) ?? "null")}`;
}

export function sha256(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}
