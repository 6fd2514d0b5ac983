// The fields of the policy, the handoff and the review by type, with their aliases; the readers work from these tables.

/** Names are snake_case; kebab-case is accepted for each of them. `aliases` maps another name to the field it means. */
export interface FieldTable {
  readonly text?: readonly string[];
  readonly list?: readonly string[];
  readonly number?: readonly string[];
  readonly flag?: readonly string[];
  readonly any?: readonly string[];
  readonly choice?: Readonly<Record<string, readonly string[]>>;
  readonly section?: Readonly<Record<string, FieldTable>>;
  readonly aliases?: Readonly<Record<string, string>>;
}

export const policyFields = {
  section: {
    policy: {
      text: ["router", "info", "build", "escalate_to"],
      number: ["conf_threshold"],
      aliases: { research: "info", builder: "build" },
    },
    fallbacks: {
      list: ["router", "info", "build", "escalate_to"],
      aliases: { research: "info", builder: "build" },
    },
    routing: { list: ["decision_rules"] },
    gate: {
      list: ["require_fields"],
      number: ["fail_if_conf_less"],
      choice: {
        if_conflict_or_missing: ["reroute_to_router", "ask", "fail"],
        if_test_failure: ["reroute_to_builder_once_then_router", "reroute_to_router", "ask", "fail"],
      },
    },
  },
  choice: {
    review: ["always", "risk", "never"],
    words: ["substring", "boundary"],
  },
} as const satisfies FieldTable;

export const handoffFields = {
  text: ["task_id", "from_model", "to_model", "objective", "scope", "current_state"],
  list: [
    "constraints",
    "artifact_refs",
    "acceptance_criteria",
    "risks",
    "fallback_triggers",
    "assumptions_made",
    "open_questions",
    "failed_checks",
  ],
  number: ["confidence_threshold", "conf"],
  any: ["expected_output"],
  section: {
    context: { text: ["state"], list: ["refs"] },
    out: {
      text: ["format"],
      list: ["files", "tests"],
      flag: ["recommended", "cite_sources", "diff_summary"],
      any: ["alternatives", "risks", "open_questions"],
    },
    criteria: { list: ["must", "fail", "optional"] },
  },
  aliases: {
    id: "task_id",
    from: "from_model",
    src: "from_model",
    to: "to_model",
    dst: "to_model",
    obj: "objective",
    refs: "artifact_refs",
    confidence: "conf",
  },
} as const satisfies FieldTable;

export const reviewFields = {
  text: ["from", "to"],
  section: {
    review: { text: ["task", "gate"], list: ["findings", "required"], number: ["conf"], any: ["points"] },
  },
} as const satisfies FieldTable;

/** The names in the table itself, without those inside its sections. */
export function fieldNames(table: FieldTable): string[] {
  return [
    ...(table.text ?? []),
    ...(table.list ?? []),
    ...(table.number ?? []),
    ...(table.flag ?? []),
    ...(table.any ?? []),
    ...Object.keys(table.choice ?? {}),
    ...Object.keys(table.section ?? {}),
  ];
}
