// Recovery after a crash: ends the processes named in the note of an interrupted step before the task goes on.

import { z } from "zod";

import { TuttiError } from "../../../protocol/error.ts";
import { type EndOptions, endProcesses, ProcessNote } from "./end-processes.ts";

const StepNote = z.object({ process: ProcessNote });

/** Ignores notes of other kinds. Throws `busy` when a process cannot be ended. */
export async function cleanUp(note: unknown, options?: EndOptions): Promise<void> {
  const noted = StepNote.safeParse(note);
  if (!noted.success) return;
  const { left } = await endProcesses(noted.data.process, options);
  if (left.length === 0) return;
  const which = `process ${left.join(", ")} of the interrupted step ${noted.data.process.step}`;
  throw new TuttiError("busy", `${which} cannot be ended; end it yourself, then start again`, {
    details: { pids: left },
  });
}
