// What a call may bring about, and what a person says about it beforehand: which effects run freely, which are asked about, which never run.

import { z } from "zod";

/** From harmless to far-reaching: looks, changes something, runs a program, reaches other machines. */
export const Effect = z.enum(["read", "write", "execute", "network"]);
export type Effect = z.infer<typeof Effect>;

/** `confined` runs freely what cannot reach beyond the task's folders, and asks about the rest. */
export const ApprovalRule = z.enum(["free", "confined", "ask", "refuse"]);
export type ApprovalRule = z.infer<typeof ApprovalRule>;

export const ApprovalPolicy = z.strictObject({
  read: ApprovalRule.default("free"),
  write: ApprovalRule.default("confined"),
  execute: ApprovalRule.default("confined"),
  /** Nothing confines what is sent to other machines. */
  network: ApprovalRule.exclude(["confined"]).default("ask"),
  /** By the name of a tool; stands in place of the rules for its effects. */
  tools: z.record(z.string(), ApprovalRule).default(() => ({})),
});
export type ApprovalPolicy = z.infer<typeof ApprovalPolicy>;

/** What an empty policy says; written out, since the first reading of any schema is slow. */
export const defaultApprovalPolicy: ApprovalPolicy = {
  read: "free",
  write: "confined",
  execute: "confined",
  network: "ask",
  tools: {},
};
