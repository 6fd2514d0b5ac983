// Where a routing policy names its models, and on which line of its text a field stands.

import { policyFields } from "./field-tables.ts";
import type { Policy } from "./policy.ts";
import { parseRule } from "./rule.ts";

export const policyRoles = ["router", "info", "build", "escalate_to"] as const;

export interface NamedModel {
  /** The field, such as `policy.build`, `fallbacks.build[0]` or `routing.decision_rules[2]`. */
  readonly where: string;
  /** `[runner:]model`, as it is written. */
  readonly model: string;
}

/** Every model that the policy could give work to, in the order of the policy. */
export function modelsNamedIn({ policy, fallbacks = {}, routing }: Policy): NamedModel[] {
  return [
    ...policyRoles.map((role) => ({ where: `policy.${role}`, model: policy[role] })),
    ...policyRoles.flatMap((role) =>
      (fallbacks[role] ?? []).map((model, index) => ({ where: `fallbacks.${role}[${index}]`, model })),
    ),
    ...routing.decision_rules.flatMap((raw, index) => {
      const rule = parseRule(raw);
      return rule === undefined ? [] : [{ where: `routing.decision_rules[${index}]`, model: rule.model }];
    }),
  ];
}

/** The field and its other names. */
function namesOf(field: string): string[] {
  const aliases = Object.entries(policyFields.section.policy.aliases);
  return [field, ...aliases.filter(([, meant]) => meant === field).map(([alias]) => alias)];
}

/**
 * The line, counted from 1, on which the text gives the field; undefined when it leaves it out, so that a default counts.
 * `mention` is a text of an item of a list: when the list goes over several lines, the line with it is meant.
 */
export function lineOfField(text: string, path: string, mention?: string): number | undefined {
  const lines = text.split("\n");
  let [from, to] = [0, lines.length];
  for (const part of path.replaceAll(/\[\d+\]/g, "").split(".")) {
    const names = namesOf(part).map((name) => name.replaceAll(/[^\w-]/g, String.raw`\$&`).replaceAll(/[-_]/g, "[-_]"));
    const field = new RegExp(String.raw`(?:^|[\s{,])"?(?:${names.join("|")})"?(?:\[\d*\])?\s*:`);
    const found = lines.findIndex((line, at) => at >= from && at < to && !isBlankLine(line) && field.test(line));
    if (found === -1) return undefined;
    from = found;
    to = endOfSection(lines, found);
  }
  const mentioned =
    mention === undefined ? -1 : lines.findIndex((line, at) => at >= from && at < to && line.includes(mention));
  return (mentioned === -1 ? from : mentioned) + 1;
}

/** A section goes on as long as its lines are indented more than its first one. */
function endOfSection(lines: readonly string[], first: number): number {
  const indent = indentOf(lines[first]);
  const end = lines.findIndex((line, at) => at > first && !isBlankLine(line) && indentOf(line) <= indent);
  return end === -1 ? lines.length : end;
}

function indentOf(line = ""): number {
  return line.search(/\S|$/);
}

function isBlankLine(line: string): boolean {
  return /^\s*(?:#|$)/.test(line);
}
