// What a node and its watchdog say to each other.

import { z } from "zod";

import { ProcessNote } from "../runner/shared/process/end-processes.ts";

/** Said to the watchdog. Times are those of `elapsedMs`, so that a message that arrives late lengthens nothing. */
export const WatchdogRequest = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("watch"),
    /** The node itself, where the system does not tell the variables of processes: then all below it are ended. */
    node: z.object({ pid: z.int().min(1), start: z.string().min(1) }).optional(),
    /** A variable, as `NAME=value`, of the processes that are not noted one by one. */
    mark: z.string(),
    /** How long before the end of the lease the processes are ended. */
    marginMs: z.number().positive(),
    /** What a watchdog before this one knew: until when the lease lasted, 0 when there was none yet, and the processes. */
    until: z.number(),
    guarded: z.array(ProcessNote),
  }),
  /** Nobody can take the trees of the node before this time. */
  z.object({ kind: z.literal("renewed"), id: z.int(), until: z.number() }),
  z.object({ kind: z.literal("guard"), id: z.int(), process: ProcessNote }),
]);
export type WatchdogRequest = z.infer<typeof WatchdogRequest>;

export const WatchdogReply = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("watching") }),
  z.object({ kind: z.literal("renewed"), id: z.int() }),
  /** From now on the process is ended with the lease. */
  z.object({ kind: z.literal("guarded"), id: z.int() }),
  /** The lease is over, or about to be, so the process must not begin. */
  z.object({ kind: z.literal("refused"), id: z.int() }),
  /** All processes of these notes have ended by themselves. */
  z.object({ kind: z.literal("gone"), processes: z.array(ProcessNote) }),
  /** The lease ran out: what was running was ended. `left`: the pids that are still there although they were killed. */
  z.object({ kind: z.literal("ended"), processes: z.array(ProcessNote), found: z.int(), left: z.array(z.int()) }),
]);
export type WatchdogReply = z.infer<typeof WatchdogReply>;
