// Reads the answer of an operator to an ask: an `Answer`, or the plain value that a simpler client sends.
import { Answer, type Ask } from "../task/ask.ts";

/**
 * Undefined if the value cannot be an answer of that kind; the choices and the schema are checked later, by `readAnswer`
 * and by the task. A question without a schema takes text, so any other value is turned into its JSON: what wraps a choice
 * is none. Of a choice, the case of its letters does not matter.
 */
export function operatorAnswer(
  ask: Pick<Ask, "kind" | "answer_schema" | "choices">,
  value: unknown,
): Answer | undefined {
  const whole = Answer.safeParse(value);
  if (whole.success && whole.data.kind === ask.kind) {
    return whole.data.kind === "question"
      ? { kind: "question", value: choiceMeant(ask.choices, whole.data.value) }
      : whole.data;
  }
  switch (ask.kind) {
    case "question": {
      const asText = ask.answer_schema === null && typeof value !== "string";
      return { kind: "question", value: asText ? JSON.stringify(value ?? null) : choiceMeant(ask.choices, value) };
    }
    case "approval":
      if (typeof value === "boolean") return { kind: "approval", approved: value };
      return withKind("approval", value);
    case "budget":
      if (typeof value === "boolean") return { kind: "budget", go_on: value };
      return withKind("budget", value);
  }
}

/** The value as it is, unless it is exactly one of the choices but for spaces around it and the case of its letters. */
function choiceMeant(choices: readonly string[] | undefined, value: unknown): unknown {
  if (choices === undefined || typeof value !== "string" || choices.includes(value)) return value;
  const plain = (text: string): string => text.trim().toLowerCase();
  const meant = choices.filter((choice) => plain(choice) === plain(value));
  return meant.length === 1 ? meant[0] : value;
}

function withKind(kind: "approval" | "budget", value: unknown): Answer | undefined {
  if (typeof value !== "object" || value === null || "kind" in value) return undefined;
  return Answer.safeParse({ ...value, kind }).data;
}
