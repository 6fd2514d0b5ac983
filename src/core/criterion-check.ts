// Which check a criterion is bound to: the one the person named for it, or the one it consists of. Words bind nothing.

import type { Criterion } from "../protocol/task/goal.ts";
import { argvOfCheck } from "./read-check.ts";

type BoundCriterion = Pick<Criterion, "text" | "by">;

/** "`npm test` succeeds", and nothing before or after it. */
const quotedCommand = /^`([^`]+)`\s+(?:succeeds|passes)\.?$/;
const plainCommand = /^(.+?)(?:\s+(?:succeeds|passes)\.?)?$/s;

/** The command that a criterion itself says must succeed, or that the person named for it. */
export function namedCommand({ text, by }: BoundCriterion): readonly string[] | undefined {
  if (by !== undefined) return argvOfCheck(by);
  const [, line] = quotedCommand.exec(text.trim()) ?? [];
  return line === undefined ? undefined : argvOfCheck(line);
}

/** It names a command and nothing else, but one that only a shell could run, so no check can be bound to it. */
export function isUnreadable(criterion: BoundCriterion): boolean {
  const namesOne = criterion.by !== undefined || quotedCommand.test(criterion.text.trim());
  return namesOne && namedCommand(criterion) === undefined;
}

/** The arguments of the check that alone can meet the criterion. Without back quotes, it has to be one of `checks`. */
export function boundCheck(
  criterion: BoundCriterion,
  checks: readonly (readonly string[])[],
): readonly string[] | undefined {
  const named = namedCommand(criterion);
  if (named !== undefined || criterion.by !== undefined) return named;
  const [, line] = plainCommand.exec(criterion.text.trim()) ?? [];
  const argv = line === undefined ? undefined : argvOfCheck(line);
  return argv !== undefined && checks.some((check) => isSameArgv(check, argv)) ? argv : undefined;
}

export function isSameArgv(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((word, at) => word === other[at]);
}
