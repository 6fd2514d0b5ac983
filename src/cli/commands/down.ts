// `tutti down`: stops the daemon; unfinished tasks go on at the next start.
import type { Host } from "../../host/host.ts";
import { TuttiError } from "../../protocol/error.ts";
import { unfinishedText } from "../endings.ts";
import { note, writeJson, writeLine } from "../terminal/screen.ts";
import { dim } from "../terminal/style.ts";
import { stateFolder } from "../state-folder.ts";

export interface DownOptions {
  readonly state?: string;
  readonly json?: boolean;
  readonly grace?: number;
  readonly force?: boolean;
}

export async function downCommand(host: Host, options: DownOptions): Promise<void> {
  const { grace, force } = options;
  const folder = stateFolder(options.state);
  if (options.json !== true) await tellBefore(host, folder);
  const stopped = await host.stopDaemon(folder, {
    ...(grace === undefined ? {} : { graceMs: Math.round(grace * 1_000) }),
    ...(force === undefined ? {} : { force }),
  });
  if (options.json === true) return writeJson({ stopped });
  await writeLine(stopped ? "stopped; unfinished tasks go on at the next start" : "no daemon was running");
}

/** Read from the folder itself, since a daemon that hangs does not answer. */
async function tellBefore(host: Host, folder: string): Promise<void> {
  try {
    if ((await host.findDaemon(folder)) === undefined) return;
    const reader = host.openReader(folder);
    try {
      note(dim(`stopping the daemon with ${await unfinishedText(reader)}`));
    } finally {
      await reader.close();
    }
  } catch (thrown) {
    // What cannot be counted is stopped nevertheless.
    if (!(thrown instanceof TuttiError)) throw thrown;
  }
}
