// What a handoff must contain before it is routed: the fields the policy requires, the contract, a confidence in range.

import type { Handoff } from "./handoff.ts";
import { isBlank } from "./text.ts";

export interface RouteProblem {
  readonly kind: "missing_fields" | "contract" | "confidence_range";
  readonly message: string;
  /** The fields it is about, by the names the policy requires them under. */
  readonly fields: readonly string[];
}

type Check = (handoff: Handoff) => boolean;

const hasText = (text: string | undefined): boolean => text !== undefined && !isBlank(text);
const hasItems = (list: readonly string[] | undefined): boolean => list !== undefined && list.length > 0;

// An item may be empty, a list may not: "nothing" is written ["none"].
const checks = new Map<string, Check>([
  ["task_id", (handoff) => hasText(handoff.task_id)],
  ["from_model", (handoff) => hasText(handoff.from_model)],
  ["to_model", (handoff) => hasText(handoff.to_model)],
  ["objective", (handoff) => hasText(handoff.objective)],
  ["scope", (handoff) => hasText(handoff.scope)],
  ["constraints", (handoff) => hasItems(handoff.constraints)],
  ["current_state", (handoff) => hasText(handoff.current_state) || hasText(handoff.context?.state)],
  ["artifact_refs", (handoff) => hasItems(handoff.artifact_refs) || hasItems(handoff.context?.refs)],
  ["expected_output", (handoff) => handoff.expected_output !== undefined && handoff.expected_output !== null],
  ["acceptance_criteria", (handoff) => hasItems(handoff.acceptance_criteria)],
  ["risks", (handoff) => hasItems(handoff.risks)],
  ["fallback_triggers", (handoff) => hasItems(handoff.fallback_triggers)],
  ["conf", (handoff) => handoff.conf !== undefined],
  ["assumptions_made", (handoff) => hasItems(handoff.assumptions_made)],
  ["open_questions", (handoff) => hasItems(handoff.open_questions)],
  ["failed_checks", (handoff) => hasItems(handoff.failed_checks)],
  ["id", (handoff) => hasText(handoff.task_id)],
  ["src", (handoff) => hasText(handoff.from_model)],
  ["dst", (handoff) => hasText(handoff.to_model)],
  ["obj", (handoff) => hasText(handoff.objective)],
  ["refs", (handoff) => hasItems(handoff.artifact_refs) || hasItems(handoff.context?.refs)],
  ["out", (handoff) => asksForOutput(handoff.out)],
  ["criteria", (handoff) => hasItems(handoff.criteria?.must) || hasItems(handoff.criteria?.fail)],
]);

/** Every handoff satisfies any other name, kebab-case spellings included. */
export function isRequirable(name: string): boolean {
  return checks.has(name);
}

/** The first of these: missing fields, an incomplete contract, a confidence out of range. */
export function findProblem(required: readonly string[], handoff: Handoff): RouteProblem | undefined {
  let missing: Set<string> | undefined;
  for (const name of required) {
    const check = checks.get(name);
    if (check !== undefined && !check(handoff)) (missing ??= new Set()).add(name);
  }
  if (missing !== undefined) {
    const fields = [...missing].toSorted();
    return { kind: "missing_fields", message: `missing required handoff fields: ${fields.join(", ")}`, fields };
  }
  if (
    !hasItems(handoff.acceptance_criteria) ||
    !hasItems(handoff.assumptions_made) ||
    !hasItems(handoff.open_questions) ||
    !hasItems(handoff.failed_checks)
  ) {
    return {
      kind: "contract",
      message:
        "handoff must include acceptance_criteria and verification fields (assumptions_made/open_questions/failed_checks)",
      fields: contract.filter((name) => !hasItems(handoff[name])),
    };
  }
  const { conf } = handoff;
  if (conf !== undefined && !(conf >= 0 && conf <= 1)) {
    const message = `confidence value must be normalized in 0.0..1.0, got ${inDigits(conf)}`;
    return { kind: "confidence_range", message, fields: ["conf"] };
  }
  return undefined;
}

const contract = ["acceptance_criteria", "assumptions_made", "open_questions", "failed_checks"] as const;

function asksForOutput(out: Handoff["out"]): boolean {
  if (out === undefined) return false;
  if (out.recommended === true || out.cite_sources === true || out.diff_summary === true) return true;
  if (hasItems(out.files) || hasItems(out.tests) || out.format !== undefined) return true;
  return [out.alternatives, out.risks, out.open_questions].some((value) => value !== undefined && value !== null);
}

/** The number without an exponent, which String uses for very large and very small numbers. */
function inDigits(value: number): string {
  const [, sign = "", whole = "", fraction = "", exponent] = /^(-?)(\d+)(?:\.(\d+))?e([+-]\d+)$/.exec(`${value}`) ?? [];
  if (exponent === undefined) return Number.isFinite(value) || Number.isNaN(value) ? `${value}` : infinite(value);
  const shift = Number(exponent);
  if (shift > 0) return sign + (whole + fraction).padEnd(whole.length + shift, "0");
  return `${sign}0.${"0".repeat(-shift - 1)}${whole}${fraction}`;
}

function infinite(value: number): string {
  return value > 0 ? "inf" : "-inf";
}
