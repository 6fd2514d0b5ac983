// `tutti down`: stops the daemon of a state; what is under way goes on at the next start.
import type { Opener } from "../client/client.ts";
import { writeLine } from "./output.ts";
import { stateFolder } from "./state-folder.ts";

export interface DownOptions {
  readonly state?: string;
  readonly json?: boolean;
  readonly grace?: number;
  readonly force?: boolean;
}

export async function downCommand(opener: Opener, options: DownOptions): Promise<void> {
  const { grace, force } = options;
  const stopped = await opener.stop(stateFolder(options.state), {
    ...(grace === undefined ? {} : { graceMs: Math.round(grace * 1_000) }),
    ...(force === undefined ? {} : { force }),
  });
  if (options.json === true) return writeLine(JSON.stringify({ stopped }));
  await writeLine(stopped ? "stopped; what was under way goes on at the next start" : "no daemon was running");
}
