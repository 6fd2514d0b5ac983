// `tutti pause`: lets no new work begin.
import type { Host } from "../../host/host.ts";
import { commandLine, withDaemon } from "../connect.ts";
import { writeJson, writeLine } from "../terminal/screen.ts";

export interface PauseOptions {
  readonly state?: string;
  readonly json?: boolean;
}

export async function pauseCommand(host: Host, options: PauseOptions): Promise<void> {
  await withDaemon(host, options, async (tutti) => {
    await tutti.pause();
    const resume = commandLine(options.state, "resume");
    const text = `paused: steps under way finish, nothing new begins until \`${resume}\``;
    await (options.json === true ? writeJson({ paused: true }) : writeLine(text));
  });
}
