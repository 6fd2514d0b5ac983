// Recovery after a crash: ends the processes named in the note of an interrupted step before the task goes on.

import { z } from "zod";

import { TuttiError } from "../../../protocol/error.ts";
import { type EndOptions, endProcesses, ProcessNote } from "./end-processes.ts";

/** `others`: processes that the step started beside the first one. */
const StepNote = z.object({ process: ProcessNote, others: z.array(ProcessNote).default([]) });

/** Ignores notes of other kinds. Throws `busy` when a process cannot be ended. */
export async function cleanUp(note: unknown, options?: EndOptions): Promise<void> {
  const noted = StepNote.safeParse(note);
  if (!noted.success) return;
  const { process, others } = noted.data;
  const ended = await Promise.all([process, ...others].map((each) => endProcesses(each, options)));
  const left = ended.flatMap((each) => each.left);
  if (left.length === 0) return;
  const which = `process ${left.join(", ")} of the interrupted step ${process.step}`;
  throw new TuttiError("busy", `${which} cannot be ended; end it yourself, then start again`, {
    details: { pids: left },
  });
}
