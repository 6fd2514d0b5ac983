// Does the work of a session in its workspace and saves what it left there: a commit, and the event that tells of it.

import { isTaskStopped } from "../../core/end-reasons.ts";
import { TuttiError } from "../../protocol/error.ts";
import { type Message, messageText } from "../../protocol/task/message.ts";
import type { Durable } from "../../ports.ts";
import type { Workspace } from "../../workspace/index.ts";
import { askAboutProtected, type ProtectedAsk } from "./approve-protected.ts";
import type { ProgramPlace } from "./confined-program.ts";
import { stepToEnd } from "./step-to-end.ts";
import { leaveFolder, SavedSession, saveSession, type SessionWorkspaces } from "./session-folder.ts";

export interface WorkPlace {
  readonly workspaces: SessionWorkspaces;
  readonly workspace: Workspace;
  /** What a person should know of the workspace, each a sentence. */
  readonly warnings: readonly string[];
}

export interface Saving extends WorkPlace, Pick<ProtectedAsk, "tool" | "sources"> {
  readonly prompt: Message;
  /** How programs run in the workspace, such as the person's commit hooks. */
  readonly launch: () => ProgramPlace | Promise<ProgramPlace>;
}

/** The work is saved when the session is done; otherwise it stays in the workspace, and its commits in the repository. */
export async function workAndSave<T>(
  durable: Durable,
  { workspaces, workspace, warnings, prompt, launch, tool, sources }: Saving,
  work: () => Promise<T>,
): Promise<T> {
  let result: T;
  try {
    result = await work();
  } catch (thrown) {
    // When Tutti itself is stopped there is no time left; the next start brings the commits over.
    if (!isStopped(durable) || isTaskStopped(durable.signal))
      await leaveFolder(workspaces, workspace).catch(() => undefined);
    throw thrown;
  }
  const saved = await stepToEnd(durable, { key: "saved", repeatable: true, schema: SavedSession }, async (step) =>
    saveSession(workspaces, workspace, {
      message: `${durable.agent}: ${firstLine(prompt)}`,
      launch: await launch(),
      step,
    }),
  );
  const { protected: held, ...told } = saved;
  durable.tell("saved.told", {
    type: "session.saved",
    data: {
      ...told,
      warnings: [...warnings, ...saved.warnings],
      folder: workspace.folder,
      mode: workspace.mode,
      ...(workspace.machine === undefined ? {} : { machine: workspace.machine.name }),
    },
  });
  if (held !== null) await askAboutProtected(durable, workspaces, { tool, saved, sources });
  return result;
}

/** For the message of a commit that Tutti makes. */
function firstLine(prompt: Message): string {
  const [line = ""] = messageText(prompt).trim().split("\n");
  return line.length > 60 ? `${line.slice(0, 59)}…` : line;
}

/** Tutti is being stopped, and the task goes on at the next start. */
export function isStopped({ signal }: Durable): boolean {
  return signal.aborted && signal.reason instanceof TuttiError && signal.reason.code === "stopped";
}
