// `tutti pause`: lets no new work begin.
import type { Host } from "../../host/host.ts";
import { commandLine, withDaemon } from "../connect.ts";
import { unfinishedText } from "../endings.ts";
import { note, writeJson, writeLine } from "../terminal/screen.ts";
import { dim } from "../terminal/style.ts";

export interface PauseOptions {
  readonly state?: string;
  readonly json?: boolean;
}

export async function pauseCommand(host: Host, options: PauseOptions): Promise<void> {
  await withDaemon(host, options, async (tutti) => {
    if (options.json !== true) note(dim(`pausing with ${await unfinishedText(tutti)}`));
    await tutti.pause();
    const resume = commandLine(options.state, "resume");
    const text = `paused: steps under way finish, nothing new begins until \`${resume}\``;
    await (options.json === true ? writeJson({ paused: true }) : writeLine(text));
  });
}
