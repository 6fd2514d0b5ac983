// Checks the runners that a project's config exports and makes each of them a call that the config's process can run.

import { z } from "zod";

import type { StandardResult, StandardSchema } from "../../agent/tools/define-tool.ts";
import { isFunction, isStandardSchema, type UserTool, userTool } from "../../agent/tools/user-tools.ts";
import { attendedKind, knownRunnerKinds, programKind } from "../../protocol/invocation/runner-kinds.ts";
import { CompleteMessage } from "../../protocol/task/message.ts";
import { describeIssue, issuesOf } from "../../protocol/lenient-read.ts";
import type { RunnerDefinition, RunnerTask } from "./define-runner.ts";

const defaultMs = 30 * 60_000;
const longestMs = 24 * 60 * 60_000;
const taken = ["invocation", "conversation", programKind, attendedKind, ...knownRunnerKinds];

const Definition = z.strictObject({
  kind: z
    .string()
    .regex(/^[a-z][a-z0-9_-]{0,63}$/, "must be at most 64 small letters, digits, _ and -, and begin with a letter")
    .refine((kind) => !taken.includes(kind), "is the kind of a built-in runner; choose another"),
  description: z.string().min(1),
  runtime: z.string().min(1).optional(),
  config: z.custom<StandardSchema>(isStandardSchema, "must be a Standard Schema, such as one of zod").optional(),
  repeatable: z.boolean().default(false),
  timeout_ms: z.int().positive().max(longestMs).default(defaultMs),
  run: z.custom<RunnerDefinition["run"]>(isFunction, "must be a function"),
});
type Definition = z.infer<typeof Definition>;

interface UserRunner {
  readonly kind: string;
  readonly runtime: string;
  readonly description: string;
  /** Takes a `RunnerTask`. */
  readonly call: UserTool;
}

export type UserRunners =
  | { readonly ok: true; readonly runners: readonly UserRunner[] }
  | { readonly ok: false; readonly issues: readonly string[] };

/** All runners or none. */
export function readUserRunners(exported: readonly unknown[], { file }: { readonly file: string }): UserRunners {
  const runners: UserRunner[] = [];
  const issues: string[] = [];
  for (const [index, value] of exported.entries()) {
    const parsed = Definition.safeParse(value);
    if (!parsed.success) {
      issues.push(...issuesOf(parsed.error).map((issue) => `${file}: runners[${index}]: ${describeIssue(issue)}`));
    } else if (runners.some(({ kind }) => kind === parsed.data.kind)) {
      issues.push(`${file}: runners[${index}]: there is a runner ${parsed.data.kind} already; rename it`);
    } else runners.push(userRunner(parsed.data));
  }
  return issues.length > 0 ? { ok: false, issues } : { ok: true, runners };
}

function userRunner(definition: Definition): UserRunner {
  const { kind, description, repeatable, timeout_ms } = definition;
  const call = userTool(
    {
      name: kind,
      label: `the runner ${kind}`,
      description,
      input: taskSchema(definition.config),
      effects: ["execute"],
      repeatable,
      timeout_ms,
      run: (input, context) => definition.run(RunnerInput.parse(input), context),
    },
    { type: "object" },
  );
  return { kind, runtime: definition.runtime ?? kind, description, call };
}

const RunnerInput: z.ZodType<RunnerTask> = z.object({
  config: z.unknown(),
  agent: z.string(),
  instructions: z.string(),
  message: z.string(),
  messages: z.array(CompleteMessage).optional(),
  task: z.string(),
  attempt: z.int(),
});

/** A task whose config the runner's own schema has read. */
function taskSchema(config: StandardSchema | undefined): StandardSchema {
  const validate = async (value: unknown): Promise<StandardResult<unknown>> => {
    const task = RunnerInput.parse(value);
    if (config === undefined) return { value: task };
    const read = await config["~standard"].validate(task.config);
    if (read.issues === undefined) return { value: { ...task, config: read.value } };
    return { issues: read.issues.map((issue) => ({ ...issue, path: ["config", ...(issue.path ?? [])] })) };
  };
  return { "~standard": { version: 1, vendor: "tutti", validate } };
}
