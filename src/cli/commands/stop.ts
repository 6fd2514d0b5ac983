// `tutti stop`: ends the attempt of a task, which can be resumed later.
import type { Host } from "../../host/host.ts";
import { commandLine, withDaemon } from "../connect.ts";
import { tellBeforeEnd } from "../endings.ts";
import { findTask } from "../find-id.ts";
import { person } from "../submit-answer.ts";
import { note, writeJson, writeLine } from "../terminal/screen.ts";
import { dim } from "../terminal/style.ts";

export interface StopOptions {
  readonly state?: string;
  readonly json?: boolean;
  readonly reason?: string;
}

export async function stopCommand(host: Host, given: string, options: StopOptions): Promise<void> {
  const { state, json, reason = `stopped by ${person().name}` } = options;
  await withDaemon(host, { state, json, check: (reader) => findTask(reader, given) }, async (tutti) => {
    const named = await findTask(tutti, given);
    await tellBeforeEnd(tutti, named, { verb: "stopping", what: "what it did is kept, and it can go on later", json });
    const task = await tutti.stopTask(named, reason);
    if (json === true) return writeJson({ stopped: true, task });
    await writeLine(`${task} is stopped`);
    note(dim(`go on with \`${commandLine(state, `resume ${task}`)}\`, within 30 days`));
  });
}
