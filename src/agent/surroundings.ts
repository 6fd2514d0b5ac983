// What an agent is told about where it works, and the text that tells it.

import { z } from "zod";

import type { Surrounding } from "../protocol/invocation/invocation-file.ts";

export const Surroundings = z.object({
  folder: z.string(),
  /** The day as year-month-day. */
  date: z.string(),
  platform: z.string(),
  /** The branch and the commit that are checked out; null when the folder is in no git repository. */
  git: z.object({ branch: z.string().nullable(), commit: z.string().nullable() }).nullable(),
  /** The notes for agents that the project keeps in a file, such as AGENTS.md. */
  notes: z.object({ file: z.string(), text: z.string(), isCut: z.boolean() }).nullable(),
});
export type Surroundings = z.infer<typeof Surroundings>;

/** Looks at a folder at a time in milliseconds. Executes nothing that is in the folder. */
export type LookAround = (folder: string, now: number) => Promise<Surroundings>;

/** Empty when nothing is wanted. `wanted` is everything when absent. */
export function surroundingsText(found: Surroundings, wanted?: readonly Surrounding[]): string {
  const isWanted = (name: Surrounding): boolean => wanted === undefined || wanted.includes(name);
  const facts = [
    ...(isWanted("folder") ? [`Working folder: ${found.folder}`] : []),
    ...(isWanted("date") ? [`Today's date: ${found.date}`] : []),
    ...(isWanted("platform") ? [`Platform: ${found.platform}`] : []),
    ...(isWanted("git") ? [`Git: ${gitText(found.git)}`] : []),
  ];
  const { notes } = found;
  const paragraphs = [
    ...(facts.length === 0 ? [] : [`# Where you work\n\n${facts.join("\n")}`]),
    ...(notes === null || !isWanted("notes") ? [] : [notesText(notes)]),
  ];
  return paragraphs.join("\n\n");
}

function gitText(git: Surroundings["git"]): string {
  if (git === null) return "not a repository";
  const at = git.commit === null ? "no commit yet" : `commit ${git.commit.slice(0, 12)}`;
  return git.branch === null ? `no branch, ${at}` : `branch ${git.branch}, ${at}`;
}

function notesText({ file, text, isCut }: NonNullable<Surroundings["notes"]>): string {
  const end = isCut ? `\n\n(The rest of ${file} was left out because it is long. Read the file for it.)` : "";
  return `# Notes of the project, from ${file}\n\n${text.trim()}${end}`;
}
