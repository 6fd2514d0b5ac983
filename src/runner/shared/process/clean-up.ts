// Recovery after a crash: ends the processes named in the note of an interrupted step before the task goes on.

import { z } from "zod";

import { TuttiError } from "../../../protocol/error.ts";
import { endAllProcesses, type EndOptions, ProcessNote } from "./end-processes.ts";

/** `others`: processes that the step started beside the first one. */
const StepNote = z.object({ process: ProcessNote, others: z.array(ProcessNote).default([]) });

/** The processes that the note of a step tells of; none for notes of other kinds. */
function notedProcesses(note: unknown): ProcessNote[] {
  const noted = StepNote.safeParse(note);
  return noted.success ? [noted.data.process, ...noted.data.others] : [];
}

/** For the engine: resolves when all processes that the note of a step tells of are guarded. */
export async function guardNoted(guard: (process: ProcessNote) => Promise<void>, note: unknown): Promise<void> {
  await Promise.all(notedProcesses(note).map(guard));
}

/** Ignores notes of other kinds. Throws `busy` when a process cannot be ended. */
export async function cleanUp(note: unknown, options?: EndOptions): Promise<void> {
  const notes = notedProcesses(note);
  const [first] = notes;
  if (first === undefined) return;
  const { left } = await endAllProcesses({ notes }, options);
  if (left.length === 0) return;
  const which = `process ${left.join(", ")} of the interrupted step ${first.step}`;
  throw new TuttiError("busy", `${which} cannot be ended; end it yourself, then start again`, {
    details: { pids: left },
  });
}
