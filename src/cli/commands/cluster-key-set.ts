// `tutti cluster-key set`: keeps the key of a cluster that another node printed.
import type { Host } from "../../host/host.ts";
import { TuttiError } from "../../protocol/error.ts";
import { readText } from "../input.ts";
import { stateFolder } from "../state-folder.ts";
import { writeJson, writeLine } from "../terminal/screen.ts";
import { canPrompt, promptSecret } from "../terminal/terminal-prompt.ts";

export interface ClusterKeySetOptions {
  readonly state?: string;
  readonly json?: boolean;
  /** The key is the one that the cluster is to have next. */
  readonly next?: boolean;
}

const largestInput = 1_024;

export async function clusterKeySetCommand(host: Host, options: ClusterKeySetOptions): Promise<void> {
  const kept = await host.clusterKey(stateFolder(options.state));
  const text = (await readKey()).trim();
  if (text === "") throw new TuttiError("invalid_input", "the key is empty; nothing was kept");
  if (options.next === true) {
    await kept.keepNext(text);
    if (options.json === true) return writeJson({ file: kept.nextFile, kept: true });
    const message = `the key is kept in ${kept.nextFile}, readable by you alone; it counts from when \`tutti cluster-key rotate\` is run on one of the nodes`;
    return writeLine(message);
  }
  await kept.keep(text);
  if (options.json === true) return writeJson({ file: kept.file, kept: true });
  await writeLine(
    `the key is kept in ${kept.file}, readable by you alone; start the node with \`tutti up --database\``,
  );
}

async function readKey(): Promise<string> {
  if (!canPrompt()) return readText("-", largestInput);
  const key = await promptSecret("the key of the cluster (it is not shown): ");
  if (key === undefined) throw new TuttiError("canceled", "nothing was kept");
  return key;
}
