// `tutti pause` and `tutti resume`: no new work, and work again.
import type { Opener } from "../client/client.ts";
import { writeLine } from "./output.ts";
import { commandOn, throughDaemon } from "./reach.ts";

export interface PauseOptions {
  readonly state?: string;
  readonly json?: boolean;
}

export async function pauseCommand(opener: Opener, options: PauseOptions): Promise<void> {
  await throughDaemon(opener, options, async (tutti) => {
    await tutti.pause();
    const said = `paused: steps under way finish, nothing new begins until \`${commandOn(options.state, "resume")}\``;
    await writeLine(options.json === true ? JSON.stringify({ paused: true }) : said);
  });
}

export async function resumeCommand(opener: Opener, options: PauseOptions): Promise<void> {
  await throughDaemon(opener, options, async (tutti) => {
    await tutti.resume();
    await writeLine(options.json === true ? JSON.stringify({ paused: false }) : "going on");
  });
}
