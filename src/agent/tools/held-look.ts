// Protected files that appeared while a program ran: they are held outside of the workspace until a person has decided.

import { z } from "zod";

import { inLine, quoted } from "../../core/foreign-words.ts";
import { protectedReason } from "../../core/protected-path.ts";

export const HeldFile = z.object({
  path: z.string(),
  /** `repository`: a `.git` folder. `bare`: the HEAD of a folder that would be a git repository with it. */
  kind: z.enum(["file", "folder", "link", "repository", "bare"]),
  bytes: z.int(),
  /** How many files it has. */
  files: z.int(),
  hash: z.string(),
  /** The texts that matter, as long as they are short. */
  shown: z.array(z.object({ name: z.string(), text: z.string() })),
  /** How many files of it are not shown. */
  unshown: z.int(),
});
export type HeldFile = z.infer<typeof HeldFile>;

export const HeldReport = z.object({
  /** The folder where they are held; the file `held.json` in it says which is which. */
  folder: z.string(),
  /** What identifies the files and their content. */
  hash: z.string(),
  /** How many there are; `files` has the first of them. */
  count: z.int(),
  files: z.array(HeldFile),
  /** Protected files that the program moved or removed and that are in their old place again. */
  returned: z.array(z.string()),
  /** Named pipes, sockets and devices, which were removed. */
  dropped: z.array(z.string()),
});
export type HeldReport = z.infer<typeof HeldReport>;

export const PutBack = z.object({
  put_back: z.array(z.string()),
  not_put_back: z.array(z.object({ path: z.string(), reason: z.string() })),
});
export type PutBack = z.infer<typeof PutBack>;

/** The files that were held after the programs of a tool had ended, by the idempotency key of the step. */
export interface HeldFiles {
  /** Whether the outcome of a call says that something was held. */
  isIn(outcome: unknown): boolean;
  /** Undefined when nothing was held. Looks first, if the process ended before it could. */
  report(step: string): Promise<HeldReport | undefined>;
  /** Puts back what `hash` identifies, and nothing else. */
  putBack(step: string, hash: string): Promise<PutBack>;
}

/** What the person reads who is asked whether held files may be put back. */
export function heldQuestion(agent: string, { count, files, folder }: HeldReport): string {
  const [first] = files;
  const made =
    count === 1 && first !== undefined
      ? `made ${describe(first)}`
      : `made ${count} protected files and folders: ${summary(files, count)}`;
  const lines = [
    `A program that ${inLine(agent)} ran ${made}. Keep ${count === 1 ? "it" : "them"}?`,
    "protected: such files can make other programs run code or change what Tutti may do",
    `Until you decide, they are held in ${inLine(folder)}.`,
    ...files.flatMap(fileLines),
    ...(count > files.length
      ? [`… and ${count - files.length} more; the file held.json in that folder lists all`]
      : []),
  ];
  return lines.join("\n");
}

function describe({ kind, path }: HeldFile): string {
  const at = inLine(path);
  if (kind === "repository" || kind === "bare") return `a git repository at ${inLine(parentOf(path))}`;
  return kind === "link" ? `the protected link ${at}` : `the protected ${kind} ${at}`;
}

function summary(files: readonly HeldFile[], count: number): string {
  const repositories = files.filter(({ kind }) => kind === "repository" || kind === "bare").length;
  const rest = count - repositories;
  const parts = [
    ...(repositories === 0 ? [] : [repositories === 1 ? "1 git repository" : `${repositories} git repositories`]),
    ...(rest === 0 ? [] : [repositories === 0 ? `${rest} files or folders` : `${rest} others`]),
  ];
  return parts.join(", ");
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/")) || "/";
}

function fileLines({ path, kind, bytes, files, hash, shown, unshown }: HeldFile): string[] {
  const many = files === 1 ? "" : `${files} files, `;
  const label = kind === "bare" ? "git repository, by this file" : kind === "repository" ? "git repository" : kind;
  return [
    `${label}: ${inLine(path)} (${many}${bytes} bytes, SHA-256 ${hash}); ${protectedReason(path)}`,
    ...shown.flatMap(({ name, text }) => [
      ...(name === "" ? [] : [` ${inLine(name)}:`]),
      quoted(text.endsWith("\n") ? text.slice(0, -1) : text),
    ]),
    ...(unshown === 0 ? [] : [` not shown here: ${unshown} ${unshown === 1 ? "file" : "files"}`]),
  ];
}
