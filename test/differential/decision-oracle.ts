// What the decision protocol says of a reply, written from its text alone; it shares no code with the parser.
import { entriesOf, readWritten, someIn, trimBlank, type Written } from "./written-value.ts";

export type ExpectedDecision =
  | {
      readonly action: "delegate";
      readonly tasks: readonly { workdir: string; prompt: string; model: string | null }[];
    }
  | { readonly action: "respond"; readonly message: string }
  | { readonly action: "do_work"; readonly summary: string };

export interface Expected {
  readonly decision: ExpectedDecision;
  /** No object of the reply was a decision, so the reply itself is the message. */
  readonly fallback: boolean;
  /** An object was passed over because it names a key twice. */
  readonly repeatsKey: boolean;
}

export function expectedDecision(reply: string): Expected {
  const text = trimBlank(reply);
  let repeatsKey = false;
  for (const candidate of candidates(text)) {
    const read = readWritten(candidate);
    if (!read.ok) continue;
    const decision = decisionOf(read.value);
    // Decided for Tutti (docs/decisions.md): which of two values of a key counts is not guessed, so this is no decision.
    if (someIn(read.value, namesKeyTwice)) {
      repeatsKey ||= decision !== undefined;
      continue;
    }
    if (decision !== undefined) return { decision, fallback: false, repeatsKey };
  }
  return { decision: { action: "respond", message: text }, fallback: true, repeatsKey };
}

const known = ["action", "tasks", "message", "summary", "workdir", "prompt", "model"];

function namesKeyTwice(value: Written): boolean {
  const keys = (entriesOf(value) ?? []).map(([key]) => key).filter((key) => known.includes(key));
  return new Set(keys).size < keys.length;
}

function* candidates(text: string): Generator<string> {
  const inner = insideFence(text);
  const inFence = inner === undefined ? undefined : balanced(inner, 0);
  if (inFence !== undefined) yield inFence.object;
  for (let next = balanced(text, 0); next !== undefined; next = balanced(text, next.end)) yield next.object;
}

function insideFence(text: string): string | undefined {
  const named = text.indexOf("```json");
  const open = named === -1 ? text.indexOf("```") : named;
  if (open === -1) return undefined;
  const after = open + (named === -1 ? 3 : 7);
  const lineEnd = text.indexOf("\n", after);
  const rest = text.slice(lineEnd === -1 ? after : lineEnd + 1);
  const close = rest.indexOf("```");
  return close === -1 ? rest : rest.slice(0, close);
}

function balanced(text: string, from: number): { readonly object: string; readonly end: number } | undefined {
  const start = text.indexOf("{", from);
  if (start === -1) return undefined;
  let depth = 0;
  let inString = false;
  for (let at = start; at < text.length; at += 1) {
    const letter = text.charAt(at);
    if (inString) {
      if (letter === "\\") at += 1;
      else if (letter === '"') inString = false;
    } else if (letter === '"') inString = true;
    else if (letter === "{") depth += 1;
    else if (letter === "}") {
      depth -= 1;
      if (depth === 0) return { object: text.slice(start, at + 1), end: at + 1 };
    }
  }
  return undefined;
}

/** The fields with these names; undefined when one of them is named twice. */
function fieldsOf(value: Written, names: readonly string[]): Map<string, Written> | undefined {
  const entries = entriesOf(value)?.filter(([key]) => names.includes(key));
  if (entries === undefined) return undefined;
  const fields = new Map(entries);
  return fields.size === entries.length ? fields : undefined;
}

function decisionOf(value: Written): ExpectedDecision | undefined {
  switch (fieldsOf(value, ["action"])?.get("action")) {
    case "delegate": {
      const fields = fieldsOf(value, ["tasks"]);
      const tasks = fields?.has("tasks") === false ? [] : fields?.get("tasks");
      if (!Array.isArray(tasks)) return undefined;
      const read = tasks.map(taskOf);
      return read.every((task) => task !== undefined) ? { action: "delegate", tasks: read } : undefined;
    }
    case "respond": {
      const message = fieldsOf(value, ["message"])?.get("message");
      return typeof message === "string" ? { action: "respond", message } : undefined;
    }
    case "do_work": {
      const fields = fieldsOf(value, ["summary"]);
      const summary = fields?.has("summary") === false ? "" : fields?.get("summary");
      return typeof summary === "string" ? { action: "do_work", summary } : undefined;
    }
    default:
      return undefined;
  }
}

const taskFields = ["workdir", "prompt", "model"];

/** An object, or an array of its fields in their order. */
function taskOf(value: Written): { workdir: string; prompt: string; model: string | null } | undefined {
  const isList = Array.isArray(value);
  if (isList && value.length > taskFields.length) return undefined;
  const fields = isList
    ? new Map(value.map((item: Written, index): [string, Written] => [taskFields[index] ?? "", item]))
    : fieldsOf(value, taskFields);
  const [workdir, prompt, model] = [fields?.get("workdir"), fields?.get("prompt"), fields?.get("model") ?? null];
  if (typeof workdir !== "string" || typeof prompt !== "string") return undefined;
  return model === null || typeof model === "string" ? { workdir, prompt, model } : undefined;
}
