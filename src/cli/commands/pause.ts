// `tutti pause` and `tutti resume`: no new work, and work again.
import type { Host } from "../../host/host.ts";
import { writeLine } from "../terminal/output.ts";
import { commandLine, withDaemon } from "../connect.ts";

export interface PauseOptions {
  readonly state?: string;
  readonly json?: boolean;
}

export async function pauseCommand(host: Host, options: PauseOptions): Promise<void> {
  await withDaemon(host, options, async (tutti) => {
    await tutti.pause();
    const said = `paused: steps under way finish, nothing new begins until \`${commandLine(options.state, "resume")}\``;
    await writeLine(options.json === true ? JSON.stringify({ paused: true }) : said);
  });
}

export async function resumeCommand(host: Host, options: PauseOptions): Promise<void> {
  await withDaemon(host, options, async (tutti) => {
    await tutti.resume();
    await writeLine(options.json === true ? JSON.stringify({ paused: false }) : "going on");
  });
}
