// `tutti resume`: lets work go on after a pause.
import type { Host } from "../../host/host.ts";
import { withDaemon } from "../connect.ts";
import { writeLine } from "../terminal/screen.ts";

export interface ResumeOptions {
  readonly state?: string;
  readonly json?: boolean;
}

export async function resumeCommand(host: Host, options: ResumeOptions): Promise<void> {
  await withDaemon(host, options, async (tutti) => {
    await tutti.resume();
    await writeLine(options.json === true ? JSON.stringify({ paused: false }) : "resumed");
  });
}
