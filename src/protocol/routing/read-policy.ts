// Reads a routing policy from TOON, JSON or a plain value; the default policy fills what it leaves out.

import {
  choiceField,
  listField,
  numberField,
  openFields,
  openSection,
  textField,
  type SectionFields,
} from "./read-fields.ts";
import { defaultPolicy } from "./default-policy.ts";
import { openDocument } from "./document.ts";
import { policyFields } from "./field-tables.ts";
import { fallbackProblem, modelRefProblem, parseModelRef } from "./model-ref.ts";
import type { Policy } from "./policy.ts";
import { excerpt, finish, newNotes, refuse, warn, type Read, type ReadNotes } from "./read-notes.ts";
import { isRequirable } from "./required-fields.ts";
import { maxFallbacks } from "./role-fallbacks.ts";
import { parseRule } from "./rule.ts";

const {
  policy: roleFields,
  fallbacks: fallbackFields,
  routing: routingFields,
  gate: gateFields,
} = policyFields.section;

/** Never throws. Defaults apply field by field: a gate that gives one field keeps the defaults of the others. */
export function readPolicy(input: unknown): Read<Policy> {
  const notes = newNotes("policy");
  const policy = structuredClone(defaultPolicy);
  const document = openDocument(input, policyFields, notes);
  if (document === undefined) return finish(notes, policy);
  const fields = openFields(policyFields, document.value, { path: "", toon: document.toon, notes });

  const roles = openSection(fields, "policy", roleFields);
  for (const name of roleFields.text) {
    const value = textField(roles, name) ?? policy.policy[name];
    const problem = modelRefProblem(value);
    if (problem !== undefined) refuse(notes, `policy.${name}`, problem);
    policy.policy[name] = value;
  }
  policy.policy.conf_threshold = numberField(roles, "conf_threshold") ?? policy.policy.conf_threshold;

  const fallbacks = readFallbacks(openSection(fields, "fallbacks", fallbackFields));
  if (fallbacks !== undefined) policy.fallbacks = fallbacks;

  const routing = openSection(fields, "routing", routingFields);
  policy.routing.decision_rules = listField(routing, "decision_rules") ?? policy.routing.decision_rules;

  const gate = openSection(fields, "gate", gateFields);
  const { if_conflict_or_missing: conflict, if_test_failure: failure } = gateFields.choice;
  policy.gate = {
    require_fields: listField(gate, "require_fields") ?? policy.gate.require_fields,
    fail_if_conf_less: numberField(gate, "fail_if_conf_less") ?? policy.gate.fail_if_conf_less,
    if_conflict_or_missing: choiceField(gate, "if_conflict_or_missing", conflict) ?? policy.gate.if_conflict_or_missing,
    if_test_failure: choiceField(gate, "if_test_failure", failure) ?? policy.gate.if_test_failure,
  };

  policy.review = choiceField(fields, "review", policyFields.choice.review) ?? policy.review;
  policy.words = choiceField(fields, "words", policyFields.choice.words) ?? policy.words;
  warnOfSilentEffects(policy, notes);
  return finish(notes, policy);
}

/** Undefined if no role has a list. */
function readFallbacks(fields: SectionFields): Policy["fallbacks"] {
  const fallbacks: NonNullable<Policy["fallbacks"]> = {};
  for (const role of fallbackFields.list) {
    const list = listField(fields, role);
    if (list === undefined) continue;
    const path = `${fields.path}.${role}`;
    if (list.length > maxFallbacks) {
      refuse(fields.notes, path, `lists ${list.length} models; ${maxFallbacks} are allowed`);
      continue;
    }
    for (const [index, model] of list.entries()) {
      const problem = fallbackProblem(model);
      if (problem !== undefined) refuse(fields.notes, `${path}[${index}]`, problem);
    }
    fallbacks[role] = list;
  }
  return Object.keys(fallbacks).length === 0 ? undefined : fallbacks;
}

/** All of this is allowed, but its effect may surprise the author. */
function warnOfSilentEffects({ policy, fallbacks = {}, routing, gate }: Policy, notes: ReadNotes): void {
  for (const role of fallbackFields.list) {
    for (const [index, model] of (fallbacks[role] ?? []).entries()) {
      if (model === policy[role] || fallbacks[role]?.indexOf(model) !== index) {
        warn(notes, `fallbacks.${role}[${index}] is "${excerpt(model)}" again, which is tried only once`);
      }
    }
    const { runner } = parseModelRef(policy[role]);
    if (fallbacks[role]?.length && runner !== undefined && runner !== "local") {
      warn(
        notes,
        `fallbacks.${role} has no effect: ${policy[role]} is run by "${runner}", which chooses its model itself`,
      );
    }
  }
  for (const name of gate.require_fields) {
    if (!isRequirable(name))
      warn(notes, `gate.require_fields: "${excerpt(name)}" is not a field, so it requires nothing`);
  }
  for (const [index, rule] of routing.decision_rules.entries()) {
    if (parseRule(rule) === undefined) {
      warn(notes, `routing.decision_rules[${index}] is not "words => model" and is skipped: ${excerpt(rule)}`);
    }
  }
  const thresholds = [
    ["policy.conf_threshold", policy.conf_threshold],
    ["gate.fail_if_conf_less", gate.fail_if_conf_less],
  ] as const;
  for (const [path, value] of thresholds) {
    if (value > 1) warn(notes, `${path} is ${value}: above 1, every handoff goes to ${policy.escalate_to}`);
    if (value < 0) warn(notes, `${path} is ${value}: below 0, it holds nothing back`);
  }
}
