// The root task of an invocation file.

import { resolve } from "node:path";

import type { InvocationFile } from "../../protocol/invocation-file.ts";
import type { NewTask } from "../../ports.ts";

/** `folder` is where relative roots begin. */
export function invocationTask(file: InvocationFile, { folder }: { readonly folder: string }): NewTask {
  return {
    runner: { kind: "invocation", config: {} },
    agent: "invocation",
    input: file,
    rights: { tools: "*", roots: file.roots.map((root) => resolve(folder, root)) },
    budget: Object.fromEntries(Object.entries(file.budget ?? {}).filter(([, limit]) => limit !== undefined)),
  };
}
