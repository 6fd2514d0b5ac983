// `tutti down`: stops the daemon; unfinished tasks go on at the next start.
import type { Host } from "../../host/host.ts";
import { writeJson, writeLine } from "../terminal/screen.ts";
import { stateFolder } from "../state-folder.ts";

export interface DownOptions {
  readonly state?: string;
  readonly json?: boolean;
  readonly grace?: number;
  readonly force?: boolean;
}

export async function downCommand(host: Host, options: DownOptions): Promise<void> {
  const { grace, force } = options;
  const stopped = await host.stopDaemon(stateFolder(options.state), {
    ...(grace === undefined ? {} : { graceMs: Math.round(grace * 1_000) }),
    ...(force === undefined ? {} : { force }),
  });
  if (options.json === true) return writeJson({ stopped });
  await writeLine(stopped ? "stopped; unfinished tasks go on at the next start" : "no daemon was running");
}
