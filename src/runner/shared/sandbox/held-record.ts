// The records of held files: what was in the workspace before a program ran, and what was moved aside after it ended.

import { createHash } from "node:crypto";
import { mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";

import { z } from "zod";

import { errno } from "../../../core/errno.ts";
import { ProcessNote } from "../process/end-processes.ts";

const Identities = z.array(z.tuple([z.string(), z.string()]));

/** Written before the program starts and removed after the look that follows its end. */
export const Watch = z.object({
  step: z.string(),
  process: ProcessNote.optional(),
  roots: z.array(z.string()),
  /** Whether a person agreed that the program changes the protected files that there were. */
  mayChange: z.boolean(),
  found: Identities,
  links: Identities,
  unreadable: Identities,
});
export type Watch = z.infer<typeof Watch>;

/** What is being moved aside. It is recorded before it is moved, so that a crash loses nothing. */
const PlannedEntry = z.object({
  path: z.string(),
  /** The name that it has in the folder. */
  name: z.string(),
  /** It is the HEAD of a folder that would be a git repository with it. */
  isBare: z.boolean(),
  /** What a link led to that was there before and is there again. */
  link: z.string().optional(),
});

const HeldEntry = z.object({
  path: z.string(),
  name: z.string(),
  kind: z.enum(["file", "folder", "link", "repository", "bare"]),
  bytes: z.int(),
  files: z.int(),
  hash: z.string(),
  link: z.string().optional(),
});
export type HeldEntry = z.infer<typeof HeldEntry>;

export const HeldRecord = z.object({
  step: z.string(),
  /** The folders of the workspace. */
  roots: z.array(z.string()),
  planned: z.array(PlannedEntry),
  entries: z.array(HeldEntry),
  returned: z.array(z.string()),
  dropped: z.array(z.string()),
  /** Protected files of the user that could not be put back where they were; they are never deleted. */
  kept: z.array(z.object({ path: z.string(), name: z.string() })),
});
export type HeldRecord = z.infer<typeof HeldRecord>;

export const watchFile = "watch.json";
export const recordFile = "held.json";

/** The key of a step can contain anything, so the name of its folder is a hash. */
export function folderOf(top: string, step: string): string {
  return join(top, createHash("sha256").update(step).digest("hex").slice(0, 32));
}

export async function readRecord<T>(folder: string, name: string, schema: z.ZodType<T>): Promise<T | undefined> {
  try {
    return schema.parse(JSON.parse(await readFile(join(folder, name), "utf8")));
  } catch (thrown) {
    if (errno(thrown) === "ENOENT") return undefined;
    throw thrown;
  }
}

/** Whole or not at all, and on disk when it resolves. */
export async function writeRecord(folder: string, name: string, value: unknown): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const draft = join(folder, `${name}.${crypto.randomUUID()}`);
  try {
    await using file = await open(draft, "wx", 0o600);
    await file.writeFile(JSON.stringify(value));
    await file.sync();
    await rename(draft, join(folder, name));
  } finally {
    await rm(draft, { force: true });
  }
}
