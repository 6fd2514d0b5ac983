// Trusts the config of a project as it is now, as `tutti trust` does.

import { readConfigFiles } from "../../src/daemon/project/config-files.ts";
import { openTrust } from "../../src/daemon/project/trusted-configs.ts";

export function trustProject(state: string, project: string): void {
  const files = readConfigFiles(project);
  if (files === undefined) throw new Error(`${project} has no config`);
  // The file is there when the call returns.
  void openTrust(state).record(files);
}
