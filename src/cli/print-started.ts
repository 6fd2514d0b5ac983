// Tells that a task was started, or goes on, in another process, and how to follow it.
import { commandLine } from "./connect.ts";
import { note, writeJson, writeUnbroken } from "./terminal/screen.ts";
import { dim } from "./terminal/style.ts";

export interface StartedTask {
  readonly task: string;
  readonly existed: boolean;
  /** Of the daemon. */
  readonly url: string | undefined;
}

export async function printStarted(
  started: StartedTask,
  { json, state }: { readonly json?: boolean; readonly state?: string },
): Promise<void> {
  const { task, existed } = started;
  if (json === true) return writeJson(started);
  await writeUnbroken(task);
  const status = existed ? "it was not finished and goes on; --new starts another" : "started";
  note(dim(`${status}; follow it with \`${commandLine(state, `attach ${task}`)}\``));
}
