// Reads what an operator answers an ask with: our own shape, or the plain value a simpler client sends.
import { Answer, type Ask } from "../task/ask.ts";

/**
 * Undefined when it cannot be an answer of that kind; whether it fits the choices or the schema is for whoever takes it.
 * A question without a schema takes text, so another plain value is taken as its JSON.
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
