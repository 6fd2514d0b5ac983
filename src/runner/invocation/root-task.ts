// Makes the root task of an invocation file.

import { resolve } from "node:path";

import type { NewTask } from "../../ports.ts";
import type { InvocationFile } from "../../protocol/invocation/invocation-file.ts";
import type { InvocationConfig } from "./config.ts";

/** Relative roots start at `folder`; `project` is the folder whose config applies. */
export function invocationTask(
  file: InvocationFile,
  { folder, project }: { readonly folder: string; readonly project?: string },
): NewTask {
  const config: InvocationConfig = project === undefined ? {} : { project };
  return {
    runner: { kind: "invocation", config },
    agent: "invocation",
    input: file,
    rights: { tools: "*", roots: file.roots.map((root) => resolve(folder, root)) },
    budget: Object.fromEntries(Object.entries(file.budget ?? {}).filter(([, limit]) => limit !== undefined)),
  };
}
