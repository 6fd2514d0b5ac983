// Reads values with a program's own schemas, whichever library they are of.

import type { StandardSchema } from "../agent/tools/define-tool.ts";
import { readIssue } from "../agent/tools/user-tools.ts";
import type { OutputCheck } from "../agent/loop/output-schema.ts";
import { TuttiError } from "../protocol/error.ts";
import { describeIssues } from "../protocol/lenient-read.ts";

/** Throws `invalid_input` that says what does not fit; `what` names the value. */
export async function readWith<Output>(schema: StandardSchema<Output>, value: unknown, what: string): Promise<Output> {
  const read = await schema["~standard"].validate(value);
  if (read.issues === undefined) return read.value;
  const issues = read.issues.map(readIssue);
  throw new TuttiError("invalid_input", `${what} does not fit its schema: ${describeIssues(issues)}`, {
    details: { issues },
  });
}

/** For the loop, which does not wait: what only an asynchronous check can tell is told with the result. */
export function outputCheckOf(schema: StandardSchema): OutputCheck {
  return (value) => {
    const read = schema["~standard"].validate(value);
    if (read instanceof Promise) {
      read.catch(() => undefined);
      return [];
    }
    return read.issues === undefined ? [] : read.issues.map(readIssue);
  };
}
