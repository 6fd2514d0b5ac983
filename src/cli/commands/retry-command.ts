// `tutti retry`: does the work of a task again, through the daemon, which is started if need be.
import type { Reader } from "../../client/client.ts";
import type { Host } from "../../host/host.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { TaskId } from "../../protocol/ids.ts";
import { isTerminal } from "../../protocol/task/task-status.ts";
import { commandLine, withDaemon } from "../connect.ts";
import { pauseText } from "../pause-notice.ts";
import { warn } from "../terminal/output.ts";
import { findTask } from "../find-id.ts";
import { note, writeJson, writeUnbroken } from "../terminal/screen.ts";
import { dim } from "../terminal/style.ts";

export interface RetryOptions {
  readonly state?: string;
  readonly json?: boolean;
  readonly giveUp?: boolean;
}

export async function retryCommand(host: Host, given: string, options: RetryOptions): Promise<void> {
  const { state, json, giveUp = false } = options;
  const check = async (reader: Reader): Promise<TaskId> => {
    const asked = await findTask(reader, given);
    const { status } = await reader.task(asked);
    if (!giveUp && !isTerminal(status)) throw notOver(asked, status);
    return asked;
  };
  await withDaemon(host, { state, json, check }, async (tutti) => {
    const asked = await check(tutti);
    const { task } = await tutti.retry(asked, { giveUp });
    if (json === true) return writeJson({ task, retried: asked });
    await writeUnbroken(task);
    const what = task === asked ? "its next attempt has begun" : `started anew; ${asked} stays as it is`;
    note(dim(`${what}; follow it with \`${commandLine(state, `attach ${task}`)}\``));
    if (await tutti.paused()) warn(pauseText(state));
  });
}

function notOver(task: TaskId, status: string): TuttiError {
  const message = `${task} is not over: it is ${status}; with --give-up it gives up what it is doing and begins again`;
  return new TuttiError("conflict", message);
}
