// The tools `list` and `search`: find files of the workspace by name and by content, with limits on time and results.

import { lstat } from "node:fs/promises";

import { z } from "zod";

import { thrownMessage, TuttiError } from "../../protocol/error.ts";
import { globMatcher } from "../workspace/glob.ts";
import type { SearchJob } from "../workspace/search-worker.ts";
import type { SearchOutcome } from "../workspace/search-workspace.ts";
import { stepTool, type StepToolContext } from "./tool.ts";
import { offLimitsError, readOffLimits } from "../workspace/off-limits.ts";
import { resolvePath } from "../workspace/resolve-path.ts";
import { inFolder } from "../workspace/workspace-folder.ts";

const deadlineMs = 10_000;
const mostEntries = 1_000;
const mostMatches = 200;
const deepest = 32;

const places = () => ({
  path: z.string().min(1).nullish().describe("The first folder you may touch when absent."),
  glob: z
    .string()
    .min(1)
    .max(1_000)
    .nullish()
    .describe("Only these paths, as *.ts or src/**/*.ts, relative to the path."),
  ignored: z.boolean().nullish().describe("Also what is ignored: .git, node_modules, .gitignore."),
});

export const list = stepTool({
  name: "list",
  description: "Lists a folder: its own entries, or those of more levels below it.",
  input: () =>
    z.strictObject({
      ...places(),
      depth: z.int().positive().max(deepest).nullish().describe("Levels; 1 when absent, all with a glob that has **."),
    }),
  effects: ["read"],
  repeatable: true,
  async run(input, context) {
    const depth = input.depth ?? (input.glob?.includes("/") === true ? deepest : 1);
    const asked = { path: input.path, glob: input.glob, ignored: input.ignored, depth, most: mostEntries };
    const { folder, outcome } = await searchPath(asked, context);
    return { folder, entries: outcome.found, ...completeness(outcome, "entries") };
  },
});

export const search = stepTool({
  name: "search",
  description:
    "Finds the lines of text files that match a regular expression (JavaScript), or only files whose path matches a glob.",
  input: () =>
    z.strictObject({
      pattern: z
        .string()
        .min(1)
        .max(2_000)
        .nullish()
        .describe("What a line must hold; absent, files are found by glob."),
      literal: z.boolean().nullish().describe("The pattern is plain text, not a regular expression."),
      ignore_case: z.boolean().nullish(),
      ...places(),
      most: z.int().positive().max(mostEntries).nullish().describe(`Results at most; ${mostMatches} when absent.`),
    }),
  effects: ["read"],
  repeatable: true,
  async run(input, context) {
    const { pattern } = input;
    if (pattern === undefined || pattern === null) {
      if (input.glob === undefined || input.glob === null) {
        throw new TuttiError("invalid_input", "search needs a pattern, a glob, or both");
      }
    }
    const regex = pattern === undefined || pattern === null ? undefined : regexOf(pattern, input);
    const asked = { path: input.path, glob: input.glob, ignored: input.ignored, depth: deepest };
    const { folder, outcome } = await searchPath({ ...asked, most: input.most ?? mostMatches, regex }, context);
    const results = regex === undefined ? { files: outcome.found } : { matches: outcome.found };
    return { folder, ...results, ...completeness(outcome, "results") };
  },
});

interface SearchRequest {
  readonly path: string | null | undefined;
  readonly glob: string | null | undefined;
  readonly ignored: boolean | null | undefined;
  readonly depth: number;
  readonly most: number;
  readonly regex?: { readonly source: string; readonly flags: string } | undefined;
}

async function searchPath(
  request: SearchRequest,
  { rights, step, offLimits }: StepToolContext,
): Promise<{ readonly folder: string; readonly outcome: SearchOutcome }> {
  const pattern = request.glob ?? undefined;
  if (pattern !== undefined) checkGlob(pattern);
  const resolved = await resolvePath(request.path ?? ".", rights.roots);
  const name = resolved.names.at(-1);
  const parent = { ...resolved, names: resolved.names.slice(0, -1) };
  const closed = readOffLimits(offLimits);
  // The path may name a file: then only that file is searched.
  const only = await inFolder(parent, { make: false, offLimits: closed }, async (folder) => {
    if (name === undefined) return undefined;
    const found = await lstat(folder.entry(name), { bigint: true });
    if (closed.holds(found)) throw offLimitsError(resolved.path);
    return found.isDirectory() ? undefined : name;
  });
  const job: SearchJob = {
    root: resolved.root,
    names: only === undefined ? resolved.names : parent.names,
    depth: only === undefined ? request.depth : 1,
    ignored: request.ignored === true || only !== undefined,
    most: request.most,
    offLimits,
    ...(only === undefined ? {} : { only }),
    ...(pattern === undefined ? {} : { glob: pattern }),
    ...(request.regex === undefined ? {} : { regex: request.regex }),
  };
  // Imported with the first search, so that a process which never searches does not load worker threads.
  const { searchWorkspace } = await import("../workspace/search-workspace.ts");
  const outcome = await searchWorkspace(job, { signal: step.signal, deadlineMs });
  return { folder: [resolved.root, ...job.names].join("/"), outcome };
}

function checkGlob(pattern: string): void {
  try {
    globMatcher(pattern);
  } catch (cause) {
    throw new TuttiError("invalid_input", `the glob ${pattern} cannot be read`, { cause });
  }
}

function regexOf(
  pattern: string,
  {
    literal,
    ignore_case,
  }: { readonly literal?: boolean | null | undefined; readonly ignore_case?: boolean | null | undefined },
): { readonly source: string; readonly flags: string } {
  const source = literal === true ? RegExp.escape(pattern) : pattern;
  const flags = ignore_case === true ? "i" : "";
  try {
    new RegExp(source, flags);
  } catch (cause) {
    throw new TuttiError("invalid_input", `the pattern cannot be read: ${thrownMessage(cause)}`, { cause });
  }
  return { source, flags };
}

/** Tells the model whether the results are complete, and what was left out. */
function completeness({ end, found }: SearchOutcome, what: string): Readonly<Record<string, unknown>> {
  if (end === undefined) {
    return {
      complete: false,
      note: `stopped after ${deadlineMs / 1_000} seconds; narrow the path, the glob or the pattern`,
    };
  }
  const skipped = end.skipped === 0 ? {} : { skipped_files: end.skipped };
  const closed = end.closed.length === 0 ? {} : { closed_folders: end.closed };
  if (!end.full) return { complete: true, ...skipped, ...closed };
  return { complete: false, note: `there are more than these ${found.length} ${what}`, ...skipped, ...closed };
}
