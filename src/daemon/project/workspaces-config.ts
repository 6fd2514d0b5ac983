// The settings of workspaces in a config: where they lie and how much room they take (user only), and how they are made.

import { homedir } from "node:os";
import { isAbsolute, join, normalize } from "node:path";

import { z } from "zod";

import type { SetupCache } from "../../workspace/index.ts";

const sizeUnits: Readonly<Record<string, number>> = { "": 1, k: 1_024, m: 1_048_576, g: 1_073_741_824, t: 2 ** 40 };

/** Bytes, or a text such as `10G`. */
const Size = z.union([
  z.int().nonnegative(),
  z.string().transform((text, context) => {
    const found = /^(\d+(?:\.\d+)?)\s*([kmgt]?)i?b?$/.exec(text.trim().toLowerCase());
    if (found !== null) return Math.floor(Number(found[1]) * (sizeUnits[found[2] ?? ""] ?? 0));
    context.addIssue({ code: "custom", message: "must be a number of bytes, or a size such as 10G" });
    return z.NEVER;
  }),
]);

/** A path inside of the checkout. */
export const InnerPath = z
  .string()
  .min(1)
  .max(1_024)
  .refine(
    (path) => !isAbsolute(path) && !path.split("/").includes("..") && !/\p{Cc}/u.test(path),
    "must be a relative path that stays inside of the checkout",
  );

/** Something that a command makes in the workspace. */
const MadePath = InnerPath.refine(
  (path) => normalize(path) !== "." && path.split("/").every((name) => name.toLowerCase() !== ".git"),
  "must name a file or folder that does not belong to git",
);

const SetupStep = z
  .strictObject({
    /** The program and its arguments. No shell reads them. It runs confined, in the workspace, before the prompt. */
    command: z.tuple([z.string().min(1)], z.string()),
    /** Whether it may use the network, as an installation of packages has to. */
    network: z.boolean().default(false),
    /** Files that decide about its result, such as `package-lock.json`. */
    lock: z.array(InnerPath).min(1).max(50).optional(),
    /** What it makes, such as `node_modules`: kept, and copied into other workspaces with the same lock files. */
    makes: z.array(MadePath).min(1).max(50).optional(),
  })
  .refine(
    ({ lock, makes }) => (lock === undefined) === (makes === undefined),
    "must have both `lock` and `makes`, or neither",
  );

/** What a project may set, too. */
const made = {
  /** The pattern of new branches, with `{task}`, `{attempt}` and `{agent}`. */
  branch: z
    .string()
    .max(200)
    .regex(/\{task\}/, "must contain {task}, so that two tasks get two branches")
    .regex(/\{attempt\}/, "must contain {attempt}, so that two attempts get two branches")
    .optional(),
  /** Files and folders that git does not track and that the work needs, such as `.env`. */
  copy: z.array(InnerPath).max(100).optional(),
  setup: z.array(SetupStep).max(20).optional(),
  /** Who commits: the session, Tutti what the session left, or nobody. */
  commits: z.enum(["session", "tutti", "nobody"]).optional(),
  /** Whether the person's commit hooks run, confined, before Tutti commits. */
  hooks: z.boolean().optional(),
  /** Whether Tutti's commits are signed where the person's git signs commits. */
  signing: z.boolean().optional(),
};

/** The disk is the user's, so only the user's own config says how much of it is used, and where. */
const room = {
  /** An absolute path, or one that begins with `~/`. */
  root: z
    .string()
    .refine((path) => isAbsolute(path) || path.startsWith("~/"), "must be an absolute path, or begin with ~/")
    .optional(),
  max_size: Size.optional(),
  /** Workspaces that were not used for this many days are removed. */
  keep_days: z.number().positive().max(36_500).optional(),
  /** How much room the results of setup take that are kept; 0 keeps none. */
  cache_size: Size.optional(),
  /** Results that were not used for this many days are removed. */
  cache_days: z.number().positive().max(36_500).optional(),
};

export const WorkspacesConfig = z.strictObject({ ...room, ...made });
export type WorkspacesConfig = z.infer<typeof WorkspacesConfig>;

/** The absolute path of the folder that workspaces are made in; undefined when they lie beside the state folder. */
export function workspacesRoot({ root }: WorkspacesConfig): string | undefined {
  return root?.startsWith("~/") === true ? join(homedir(), root.slice(2)) : root;
}

const defaultCache = { bytes: 5 * 2 ** 30, days: 30 };
const dayMs = 86_400_000;

/** Where the results of setup are kept in a state folder, and how much of them. */
export function setupCacheOf(state: string, { cache_size, cache_days }: WorkspacesConfig): SetupCache {
  return {
    folder: join(state, "setup-cache"),
    maxBytes: cache_size ?? defaultCache.bytes,
    maxAgeMs: (cache_days ?? defaultCache.days) * dayMs,
  };
}

/** The settings that only the user's own config may have, as far as they are set. */
export function roomSettings(config: WorkspacesConfig): string[] {
  return Object.keys(room).filter((name) => Object.hasOwn(config, name));
}
