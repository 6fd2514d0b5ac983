// A decision rule of the policy: `words => model`.

import { trimSpace } from "../white-space.ts";
import { asciiLower } from "./text.ts";

export interface Rule {
  /** Lower case. */
  readonly left: string;
  readonly model: string;
}

/** Splits at the first arrow; undefined if a side is missing, and such a rule is skipped. */
export function parseRule(raw: string): Rule | undefined {
  const arrow = raw.indexOf("=>");
  if (arrow === -1) return undefined;
  const left = asciiLower(trimSpace(raw.slice(0, arrow)));
  const model = trimSpace(raw.slice(arrow + 2));
  return left === "" || model === "" ? undefined : { left, model };
}
