// `tutti resume`: lets work go on after a pause.
import type { Host } from "../../host/host.ts";
import { withDaemon } from "../connect.ts";
import { writeJson, writeLine } from "../terminal/screen.ts";

export interface ResumeOptions {
  readonly state?: string;
  readonly json?: boolean;
}

export async function resumeCommand(host: Host, options: ResumeOptions): Promise<void> {
  await withDaemon(host, options, async (tutti) => {
    await tutti.resume();
    await (options.json === true ? writeJson({ paused: false }) : writeLine("resumed"));
  });
}
