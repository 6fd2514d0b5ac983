// The script of the rehearsal model: rules that are tried in order, each with its conditions and its reply.

import { z } from "zod";

import { Usage } from "../task/budget.ts";
import { errorTable, type ErrorCode } from "../error.ts";
import { InvokeAgentInput } from "./invoke-agent.ts";
import { NonBlank } from "../non-blank.ts";

/** `{{last}}`, `{{user}}` and `{{0}}` to `{{9}}`; anything else in double braces is an error. */
const placeholder = /\{\{([^{}]*)\}\}/g;
const knownPlaceholder = /^(?:last|user|[0-9])$/;

const Pattern = z.strictObject({
  regex: z.string().superRefine((source, context) => {
    try {
      RegExp(source, "su");
    } catch (thrown) {
      context.addIssue({ code: "custom", message: thrown instanceof Error ? thrown.message : String(thrown) });
    }
  }),
});

const ScriptedCall = z.strictObject({ tool: NonBlank, args: z.unknown().default(() => ({})) });

const ScriptedAsk = z.strictObject({
  question: NonBlank,
  kind: z.enum(["question", "approval"]).optional(),
  choices: z.array(NonBlank).min(1).optional(),
  within_ms: z.int().positive().optional(),
});

const FailureCode = z.custom<ErrorCode>(
  (value) => typeof value === "string" && Object.hasOwn(errorTable, value),
  "is not an error code of Tutti",
);

const ScriptedFailure = z.strictObject({
  code: FailureCode,
  message: NonBlank.optional(),
  retry: z.enum(["never", "safe", "unknown"]).optional(),
});

const Spend = z.strictObject({
  input: Usage.shape.input_tokens,
  output: Usage.shape.output_tokens,
  /** Null: the price is not known. */
  money_micro_usd: Usage.shape.money_micro_usd.default(0),
});

const actions = ["say", "raw", "call", "delegate", "ask", "final", "fail"] as const;

const Rule = z
  .strictObject({
    /** Only for this agent. */
    agent: NonBlank.optional(),
    /** Only when what came since the agent's last reply contains this text, or matches the pattern. */
    last: z.union([NonBlank, Pattern]).optional(),
    /** Only for the reply with this number, counted from 0 over the agent's replies in the conversation. */
    turn: z.int().nonnegative().optional(),
    /** The rule is skipped once it has answered this often in the conversation. */
    times: z.int().positive().optional(),
    say: z.string().optional(),
    /** The whole reply as it is, without placeholders. */
    raw: z.string().optional(),
    call: z.array(ScriptedCall).min(1).optional(),
    delegate: z.array(InvokeAgentInput).min(1).optional(),
    ask: ScriptedAsk.optional(),
    final: z.unknown().optional(),
    fail: ScriptedFailure.optional(),
    /** `length`: the reply was cut at its limit. */
    finish: z.enum(["stop", "tools", "length"]).optional(),
    delay_ms: z.int().nonnegative().optional(),
    spend: Spend.optional(),
  })
  .superRefine((rule, context) => {
    const done = actions.filter((action) => rule[action] !== undefined);
    if (done.length === 0) {
      context.addIssue({ code: "custom", message: `does nothing: give it one of ${actions.join(", ")}` });
    }
    if (rule.fail !== undefined && done.length > 1) {
      context.addIssue({ code: "custom", path: ["fail"], message: "a reply that fails can do nothing else" });
    }
    if (rule.raw !== undefined && done.length > 1) {
      context.addIssue({ code: "custom", path: ["raw"], message: "a raw reply is the whole reply" });
    }
    for (const [, name = ""] of JSON.stringify({ ...rule, raw: undefined }).matchAll(placeholder)) {
      if (knownPlaceholder.test(name)) continue;
      context.addIssue({ code: "custom", message: `{{${name}}} is not a placeholder: use last, user, or 0 to 9` });
    }
  });

export const RehearsalScript = z.strictObject({ rules: z.array(Rule).default(() => []) });
export type RehearsalScript = z.infer<typeof RehearsalScript>;
export type RehearsalRule = RehearsalScript["rules"][number];
