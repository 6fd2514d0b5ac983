// The root task of an invocation file.

import { resolve } from "node:path";

import { z } from "zod";

import type { InvocationFile } from "../../protocol/invocation/invocation-file.ts";
import type { NewTask } from "../../ports.ts";

/** What a root is run with: a path, which must work, so it stands where nothing is taken out of it. */
export const InvocationConfig = z.object({ project: z.string().optional() });

/** `folder` is where relative roots begin, `project` the folder whose config holds. */
export function invocationTask(
  file: InvocationFile,
  { folder, project }: { readonly folder: string; readonly project?: string },
): NewTask {
  return {
    runner: { kind: "invocation", config: project === undefined ? {} : { project } },
    agent: "invocation",
    input: file,
    rights: { tools: "*", roots: file.roots.map((root) => resolve(folder, root)) },
    budget: Object.fromEntries(Object.entries(file.budget ?? {}).filter(([, limit]) => limit !== undefined)),
  };
}
