// The prompt that teaches a model to decide; every action, field and description in it comes from the schema.
import { z } from "zod";

import { Decision } from "./decision.ts";
import { prohibitionRange, prohibitions } from "./prohibitions.ts";

/** Examples are typed as decisions, so that they cannot drift away from the schema. */
const examples: readonly { readonly when: string; readonly decision: z.input<typeof Decision> }[] = [
  {
    when: "One piece of work",
    decision: {
      action: "delegate",
      tasks: [
        {
          workdir: "/srv/runtime",
          prompt:
            "The total of an empty basket is shown as NaN. Find the cause, fix it and add a test that fails without the fix.",
          kind: "code_change",
          checks: ["npm test"],
          acceptance: ["an empty basket shows 0.00"],
          conf: 0.9,
        },
      ],
      acceptance: ["no total of a basket is ever shown as NaN"],
    },
  },
  {
    when: "Two pieces, the second needs the first",
    decision: {
      action: "delegate",
      tasks: [
        {
          id: "api",
          kind: "code_change",
          workdir: "/srv/runtime",
          prompt: "Add GET /orders/:id to the HTTP API, with tests.",
          conf: 0.9,
        },
        {
          id: "docs",
          kind: "documentation",
          workdir: "/srv/runtime",
          prompt: "Describe GET /orders/:id in docs/api.md.",
          after: ["api"],
          conf: 0.8,
        },
      ],
    },
  },
  {
    when: "It is not clear what is wanted",
    decision: {
      action: "respond",
      message: "Which runtime do you mean: the one in /srv/runtime or the one in /srv/outlet?",
    },
  },
];

/** `schema` is a union of actions; those marked `advertised: false` are left out. */
export function renderDecisionPrompt(schema: z.ZodType = Decision): string {
  const { oneOf, anyOf } = z.toJSONSchema(schema, { io: "input" });
  const actions = (oneOf ?? anyOf ?? []).filter((action) => action["advertised"] !== false);
  return [
    "You are the manager. You decide what happens next; you do not do the work. Sessions do it, one per task.",
    "",
    `You may not (${prohibitionRange}):`,
    ...prohibitions.map(({ code, rule }) => `- ${code}: ${rule}`),
    "There is no exception for work that is small, quick or obvious. Whatever needs doing, launch a session for it.",
    "",
    "Answer with exactly one JSON object and nothing else. Its `action` says what you decide:",
    "",
    ...actions.flatMap(renderAction),
    "Examples:",
    ...examples.flatMap(({ when, decision }) => ["", `${when}:`, JSON.stringify(decision)]),
  ].join("\n");
}

type JsonSchema = z.core.JSONSchema.BaseSchema;

function renderAction(action: JsonSchema): string[] {
  const { action: tag, ...fields } = action.properties ?? {};
  const name = typeof tag === "object" ? String(tag.const) : "";
  return [`"${name}": ${action.description ?? ""}`, ...renderFields({ ...action, properties: fields }, "- "), ""];
}

function renderFields(object: JsonSchema, bullet: string): string[] {
  return Object.entries(object.properties ?? {}).flatMap(([name, field]) => {
    if (typeof field === "boolean") return [];
    const needed = object.required?.includes(name) === true || field["needed"] === true;
    const about = field.description === undefined ? "" : `: ${field.description}`;
    const item = itemOf(field);
    const inner = item?.properties === undefined ? [] : renderFields(item, `  ${bullet}`);
    const type = inner.length > 0 ? "list of objects" : typeOf(field);
    return [`${bullet}\`${name}\` (${type}, ${needed ? "required" : "optional"})${about}`, ...inner];
  });
}

function itemOf(field: JsonSchema): JsonSchema | null {
  return typeof field.items === "object" && !Array.isArray(field.items) ? field.items : null;
}

function typeOf(field: z.core.JSONSchema._JSONSchema): string {
  if (typeof field === "boolean") return "any";
  const choices = field.anyOf ?? field.oneOf;
  if (choices !== undefined) return choices.map(typeOf).join(" or ");
  if (Array.isArray(field.type)) return field.type.join(" or ");
  if (field.type === "array") {
    const item = typeOf(itemOf(field) ?? true);
    return item.includes(" or ") ? `list of (${item})` : `list of ${item}`;
  }
  if (field.type === "object") {
    const members = Object.entries(field.properties ?? {});
    return `{${members.map(([name, member]) => `"${name}": ${typeOf(member)}`).join(", ")}}`;
  }
  if (field.minimum !== undefined && field.maximum !== undefined) {
    return `${field.type} from ${field.minimum} to ${field.maximum}`;
  }
  return field.type ?? "any";
}
