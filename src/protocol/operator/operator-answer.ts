// Reads the answer of an operator to an ask: an `Answer`, or the plain value that a simpler client sends.
import { Answer, type Ask } from "../task/ask.ts";

/**
 * Undefined if the value cannot be an answer of that kind; the choices and the schema are checked later, by `readAnswer`
 * and by the task. A question without a schema takes text, so any other value is turned into its JSON: what wraps a choice
 * is none.
 */
export function operatorAnswer(ask: Pick<Ask, "kind" | "answer_schema">, value: unknown): Answer | undefined {
  const whole = Answer.safeParse(value);
  if (whole.success && whole.data.kind === ask.kind) return whole.data;
  switch (ask.kind) {
    case "question": {
      const asText = ask.answer_schema === null && typeof value !== "string";
      return { kind: "question", value: asText ? JSON.stringify(value ?? null) : value };
    }
    case "approval":
      if (typeof value === "boolean") return { kind: "approval", approved: value };
      return withKind("approval", value);
    case "budget":
      if (typeof value === "boolean") return { kind: "budget", go_on: value };
      return withKind("budget", value);
  }
}

function withKind(kind: "approval" | "budget", value: unknown): Answer | undefined {
  if (typeof value !== "object" || value === null || "kind" in value) return undefined;
  return Answer.safeParse({ ...value, kind }).data;
}
