// The approval policy: which effects of a tool call run freely, which a person is asked about, and which are refused.

import { z } from "zod";

/**
 * What a call may do, from harmless to far-reaching: read, change something, run a program, reach other machines, change a
 * file that makes other programs run code or says what Tutti may do.
 */
export const Effect = z.enum(["read", "write", "execute", "network", "protected"]);
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
  /** Always a person's decision: no rule makes it free. */
  protected: ApprovalRule.extract(["ask", "refuse"]).default("ask"),
  /** By the name of a tool; replaces the rules for its effects, except `protected`. */
  tools: z.record(z.string(), ApprovalRule).default(() => ({})),
});
export type ApprovalPolicy = z.infer<typeof ApprovalPolicy>;

/** Rules as one place gives them: a config, an invocation or an agent. It says nothing about what it leaves out. */
export const ApprovalRules = z.strictObject({
  read: ApprovalRule.optional(),
  write: ApprovalRule.optional(),
  execute: ApprovalRule.optional(),
  network: ApprovalRule.exclude(["confined"]).optional(),
  protected: ApprovalRule.extract(["ask", "refuse"]).optional(),
  tools: z.record(z.string(), ApprovalRule).optional(),
});
export type ApprovalRules = z.infer<typeof ApprovalRules>;

/** What `{}` is read as. It is written out because the first use of a schema is slow. */
export const defaultApprovalPolicy: ApprovalPolicy = {
  read: "free",
  write: "confined",
  execute: "confined",
  network: "ask",
  protected: "ask",
  tools: {},
};
