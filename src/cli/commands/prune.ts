// `tutti prune`: removes finished trees, by age or until the state is small enough.
import type { Host } from "../../host/host.ts";
import { TuttiError } from "../../protocol/error.ts";
import { writeLine } from "../terminal/screen.ts";
import { commandLine } from "../connect.ts";
import { parseAge } from "../parse-age.ts";
import { parseSize } from "../parse-size.ts";
import { stateFolder } from "../state-folder.ts";
import { counted } from "../terminal/units.ts";

export interface PruneOptions {
  readonly state?: string;
  readonly json?: boolean;
  readonly older?: string;
  readonly maxSize?: string;
}

export async function pruneCommand(host: Host, options: PruneOptions): Promise<void> {
  if (options.older === undefined && options.maxSize === undefined) {
    throw new TuttiError("usage", "say what to remove: --older 30d, --max-size 500M, or both");
  }
  const folder = stateFolder(options.state);
  if (!host.sharesRecords(folder)) await checkFree(host, folder, options);
  const pruned = await host.prune(folder, {
    ...(options.older === undefined ? {} : { endedBefore: Date.now() - parseAge(options.older) }),
    ...(options.maxSize === undefined ? {} : { maxBytes: parseSize(options.maxSize) }),
  });
  const { trees, tasks, bytes_before, bytes_after } = pruned;
  await writeLine(
    options.json === true
      ? JSON.stringify(pruned)
      : `removed ${counted(trees, "finished tree")} (${counted(tasks, "task")}); the state was ${bytes_before} bytes and is ${bytes_after}`,
  );
}

/** Nobody may work on a folder that keeps its own records. */
async function checkFree(host: Host, folder: string, { state }: PruneOptions): Promise<void> {
  // Fails with a clear message when the folder does not exist or is not a state folder.
  await host.openReader(folder).close();
  const daemon = await host.findDaemon(folder);
  if (daemon === undefined) return;
  const stop = `stop it with \`${commandLine(state, "down")}\`, prune, and start it again`;
  const who = daemon.command ? `a command, process ${daemon.pid},` : `the daemon at ${daemon.url}`;
  throw new TuttiError("locked", `${who} works on ${folder}; ${daemon.command ? "wait until it is done" : stop}`);
}
