// `tutti cluster-key show`: prints the key of a cluster for another node.
import type { Host } from "../../host/host.ts";
import { TuttiError } from "../../protocol/error.ts";
import { commandLine } from "../connect.ts";
import { stateFolder } from "../state-folder.ts";
import { writeJson, writeLine } from "../terminal/screen.ts";

export interface ClusterKeyShowOptions {
  readonly state?: string;
  readonly json?: boolean;
  /** The one that the cluster is to have next. */
  readonly next?: boolean;
}

/** Nothing but the key is printed, so that it can be piped to another node. */
export async function clusterKeyShowCommand(host: Host, options: ClusterKeyShowOptions): Promise<void> {
  const kept = await host.clusterKey(stateFolder(options.state));
  const key = options.next === true ? kept.readNext() : kept.read();
  if (key === undefined && options.next === true) {
    const message = `there is no key in ${kept.nextFile}; \`${commandLine(options.state, "cluster-key rotate")}\` makes one`;
    throw new TuttiError("not_found", message);
  }
  if (key === undefined) {
    const message = `there is no key in ${kept.file}; the first node of a database makes one (\`tutti up --database\`), and other nodes get it with \`${commandLine(options.state, "cluster-key set")}\``;
    throw new TuttiError("not_found", message);
  }
  await (options.json === true ? writeJson({ key }) : writeLine(key));
}
