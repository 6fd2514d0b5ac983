// Reads the text of a policy file, and tells its problems with the lines they are on.

import type { Policy } from "./policy.ts";
import { readPolicy } from "./read-policy.ts";
import { lineOfField } from "./policy-places.ts";

export interface PolicyProblem {
  readonly level: "error" | "warning";
  /** Null when the problem is not on a line, or the line cannot be told. */
  readonly line: number | null;
  readonly message: string;
}

export interface PolicyReading {
  /** Undefined when one of the problems is an error. */
  readonly policy: Policy | undefined;
  readonly problems: readonly PolicyProblem[];
}

export function readPolicyFile(text: string): PolicyReading {
  const read = readPolicy(text);
  const problems = read.warnings.map((message) => problemOf("warning", message, text));
  if (read.ok) return { policy: read.value, problems };
  const { message } = read.error;
  return { policy: undefined, problems: [problemOf("error", message.replace(/^policy:? /, ""), text), ...problems] };
}

/** A message begins with the field it is about, or says the line itself when the text cannot be parsed. */
function problemOf(level: PolicyProblem["level"], message: string, text: string): PolicyProblem {
  const said = /\bline (\d+)\b/i.exec(message)?.[1];
  const field = /^([\w-]+(?:\.[\w-]+)*)(?:\[\d+\])?(?::| )/.exec(message)?.[1];
  const item = /skipped: (.+)$/.exec(message) ?? /"([^"]+)"/.exec(message);
  const found = field === undefined ? undefined : lineOfField(text, field, item?.[1]);
  return { level, line: said === undefined ? (found ?? null) : Number(said), message };
}

/** `FILE:LINE: message`, as editors and other tools understand it. */
export function placed(file: string, { line, message }: Pick<PolicyProblem, "line" | "message">): string {
  return `${file}${line === null ? "" : `:${line}`}: ${message}`;
}
