// Trusts the config of a project as it is now, as `tutti trust` does.

import { readConfigFiles } from "../../src/daemon/project/config-files.ts";
import { openTrust } from "../../src/daemon/project/trusted-configs.ts";

/** In a state folder of one machine: the file is there when the call returns. */
export function trustProject(state: string, project: string): void {
  void trustProjectIn(state, project);
}

/** Also where the state is that of a node, which has to be open then. */
export async function trustProjectIn(state: string, project: string): Promise<void> {
  const files = readConfigFiles(project);
  if (files === undefined) throw new Error(`${project} has no config`);
  await openTrust(state).record(files);
}
