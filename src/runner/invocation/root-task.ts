// Makes the root task of an invocation file.

import { resolve } from "node:path";

import type { NewTask } from "../../ports.ts";
import type { InvocationFile } from "../../protocol/invocation/invocation-file.ts";
import { attendedKind } from "../../protocol/invocation/runner-kinds.ts";
import type { InvocationConfig } from "./config.ts";

interface RootPlace {
  /** Relative roots start here. */
  readonly folder: string;
  /** The folder whose config applies. */
  readonly project?: string;
  /** Who starts it. */
  readonly caller?: string;
}

export function invocationTask(file: InvocationFile, { folder, project, caller }: RootPlace): NewTask {
  const config: InvocationConfig = {
    ...(project === undefined ? {} : { project }),
    ...(caller === undefined || !isAttended(file) ? {} : { attended_by: caller }),
  };
  return {
    runner: { kind: "invocation", config },
    agent: "invocation",
    input: file,
    rights: { tools: "*", roots: file.roots.map((root) => resolve(folder, root)) },
    budget: Object.fromEntries(Object.entries(file.budget ?? {}).filter(([, limit]) => limit !== undefined)),
  };
}

/** Whether something in it is code that only the processes of a program have. */
function isAttended({ agents, external_tools, attended_models }: InvocationFile): boolean {
  return (
    attended_models !== undefined ||
    external_tools.some(({ attended }) => attended !== undefined) ||
    Object.values(agents).some(({ runner }) => runner?.kind === attendedKind)
  );
}
