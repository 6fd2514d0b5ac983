// How a thread is named by people and in invocations: by a name of their own or by its id.

import { z } from "zod";

import { ThreadId } from "../ids.ts";

/** What begins like an id of ours is none of a person's names. */
export const ThreadName = z
  .string()
  .trim()
  .min(1)
  .max(200)
  .refine((text) => !/\p{Cc}/u.test(text), "must be one line")
  .refine((text) => !/^(?:thr|tsk)_/.test(text), "must not begin with thr_ or tsk_, as ids do");

export const ThreadRef = z.union([ThreadId, ThreadName]);
