// `tutti resume`: lets work go on after a pause, or a task that was stopped.
import type { Host } from "../../host/host.ts";
import { commandLine, withDaemon } from "../connect.ts";
import { findTask } from "../find-id.ts";
import { person } from "../submit-answer.ts";
import { note, writeJson, writeLine } from "../terminal/screen.ts";
import { dim } from "../terminal/style.ts";

export interface ResumeOptions {
  readonly state?: string;
  readonly json?: boolean;
}

export async function resumeCommand(host: Host, given: string | undefined, options: ResumeOptions): Promise<void> {
  const { state, json } = options;
  await withDaemon(host, options, async (tutti) => {
    if (given === undefined) {
      await tutti.resume();
      return json === true ? writeJson({ paused: false }) : writeLine("resumed");
    }
    const task = await tutti.resumeTask(await findTask(tutti, given), person());
    if (json === true) return writeJson({ resumed: true, task });
    await writeLine(`${task} goes on`);
    note(dim(`follow it with \`${commandLine(state, `attach ${task}`)}\``));
  });
}
