// Handoffs to try the policy with.

function example(
  title: string,
  handoff: Readonly<Record<string, unknown>>,
): { readonly title: string; readonly text: string } {
  const rest = {
    task_id: "t1",
    from_model: "manager",
    to_model: "none",
    constraints: ["none"],
    current_state: "begun",
    artifact_refs: ["none"],
    expected_output: "a commit",
    acceptance_criteria: ["the tests pass"],
    risks: ["none"],
    fallback_triggers: ["none"],
    assumptions_made: ["none"],
    open_questions: ["none"],
    failed_checks: ["none"],
  };
  return { title, text: JSON.stringify({ ...rest, ...handoff }, null, 2) };
}

export const examples = [
  example("Example: repair a function", {
    objective: "Repair total() in lib/total.js.",
    scope: "code_change",
    conf: 0.9,
  }),
  example("Example: look something up", { objective: "Research how other carts round.", scope: "research", conf: 0.9 }),
  example("Example: not sure at all", { objective: "Move the data to another region.", scope: "migration", conf: 0.2 }),
] as const;
