// `tutti cluster-key rotate`: gives a cluster another key, with everything that the old one seals.
import type { Host } from "../../host/host.ts";
import { stateFolder } from "../state-folder.ts";
import { writeJson, writeLine } from "../terminal/screen.ts";

export interface ClusterKeyRotateOptions {
  readonly state?: string;
  readonly json?: boolean;
  readonly force?: boolean;
}

export async function clusterKeyRotateCommand(host: Host, options: ClusterKeyRotateOptions): Promise<void> {
  const kept = await host.clusterKey(stateFolder(options.state));
  await kept.rotate({ force: options.force === true });
  if (options.json === true) return writeJson({ file: kept.file, rotated: true });
  await writeLine(
    `the cluster has a new key, and what the old one sealed is sealed with it; it is in ${kept.file}. Keep a copy of it; backups from before need the old one`,
  );
}
