// What the chaos asks of a node over HTTP, and what a node answers.

import { z } from "zod";

export const ChaosRequest = z.discriminatedUnion("do", [
  z.object({ do: z.literal("start"), agent: z.string(), key: z.string() }),
  z.object({ do: z.literal("deliver"), wait: z.string(), value: z.unknown() }),
  z.object({ do: z.literal("message"), task: z.string(), text: z.string() }),
  z.object({ do: z.literal("cancel"), task: z.string() }),
  z.object({ do: z.literal("retry"), task: z.string() }),
  z.object({ do: z.literal("result"), task: z.number() }),
  z.object({ do: z.literal("events"), after: z.number() }),
]);
export type ChaosRequest = z.infer<typeof ChaosRequest>;

export const ChaosReply = z.union([
  z.object({ value: z.unknown() }),
  z.object({ error: z.object({ code: z.string(), message: z.string() }) }),
]);
export type ChaosReply = z.infer<typeof ChaosReply>;

export const SeenEvent = z.object({
  seq: z.number(),
  task: z.number(),
  root: z.number(),
  type: z.string(),
  /** Of `task.created`: who works on it. */
  agent: z.string().nullable(),
  /** Of an ask that was raised: its name and kind. */
  ask: z.object({ name: z.string(), kind: z.string() }).nullable(),
});
export type SeenEvent = z.infer<typeof SeenEvent>;

/** What a node writes on its standard output, a line each. */
export const NodeWord = z.discriminatedUnion("say", [
  z.object({ say: z.literal("ready"), port: z.number() }),
  z.object({ say: z.literal("fenced"), named: z.boolean(), message: z.string() }),
  z.object({ say: z.literal("left"), root: z.number(), message: z.string() }),
]);
export type NodeWord = z.infer<typeof NodeWord>;

/** Faults that are put in on purpose, to see that the chaos finds them. */
export const plants = ["early-answers", "no-fence"] as const;
