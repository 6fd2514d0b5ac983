// The text that teaches a model the fenced format and its tools.
import { declareTool, resolveReference, type SharedTypes, type ToolDeclaration } from "./declare-tool.ts";
import { renderToolCall } from "./render-tool-call.ts";
import { isJsonObject, type Json, type JsonObject } from "./tool-call.ts";

/** Format and examples come before the declarations: what stands first is followed best. */
export function renderToolContract(tools: readonly ToolDeclaration[]): string {
  if (tools.length === 0) return "There are no tools in this conversation. Answer in plain text.";
  const shared: SharedTypes = { declared: new Map(), names: new Map() };
  const functions = tools.map((tool) => declareTool(tool, shared));
  const declarations = [...shared.declared.values(), ...functions].join("\n\n");
  return `${rules}\n\n${examples(tools)}\n\n${intro}\n\n\`\`\`typescript\n${declarations}\n\`\`\``;
}

const rules = `# Calling tools

To call a tool, write a fenced block. This is the only way to call one; it replaces any other way you know.

- The block opens with a line that is exactly \`\`\`tool and closes with a line that is exactly \`\`\`
- Between them stands exactly one JSON object: {"name": "…", "args": {…}}. No array, nothing before it, nothing after it.
- "name" is the name of a tool listed below. "args" is an object; leave it out if the tool takes none.
- For several calls write several blocks. They may follow one another in one reply.
- Text and code go into ordinary JSON strings: write a line break as \\n, a quote as \\", a backslash as \\\\, a tab as \\t. Backticks, braces and tags need no escaping. No triple quotes, no heredocs, no comments, no trailing commas.
- Whole numbers beyond 9007199254740991 go into strings.
- Do not put a block inside another fence, a quotation or a list, and do not open it with json, tool_code or anything but tool.
- What you want to say goes outside the blocks, as plain text. When no call is needed any more, answer without a block.`;

const intro = "# Tools\n\nThese are all the tools there are. Each takes one object of arguments and answers with text.";

const trickyText = 'const path = "C:\\temp";\nconsole.log(`saved to ${path}`);\n';

function examples(tools: readonly ToolDeclaration[]): string {
  const [first, second] = [tools[0], tools[1] ?? tools[0]];
  const one = first === undefined ? "" : renderToolCall(first.name, sampleArgs(first.parameters));
  const two = second === undefined ? "" : renderToolCall(second.name, sampleArgs(second.parameters));
  return `# Examples

One call:

I will start here.

${one}

Two calls in one reply:

${one}
${two}

A string of several lines, with quotes and a backslash, as it is written inside "args":

${JSON.stringify({ text: trickyText })}`;
}

/** Arguments that show the shape of a call: the required ones, with a plain value of their type. */
function sampleArgs(schema: JsonObject | undefined, root: JsonObject = schema ?? {}, depth = 0): JsonObject {
  const properties = schema?.["properties"];
  const required = schema?.["required"];
  if (!isJsonObject(properties) || !Array.isArray(required)) return {};
  const names = required.filter((name: Json) => typeof name === "string" && Object.hasOwn(properties, name));
  return Object.fromEntries(names.map((name: string) => [name, sampleValue(properties[name], root, depth + 1)]));
}

function sampleValue(schema: Json | undefined, root: JsonObject, depth: number): Json {
  if (!isJsonObject(schema) || depth > 4) return "…";
  if (typeof schema["$ref"] === "string") return sampleValue(resolveReference(schema["$ref"], root), root, depth + 1);
  if (schema["const"] !== undefined) return schema["const"];
  if (Array.isArray(schema["enum"])) return schema["enum"][0] ?? null;
  const choices = schema["anyOf"] ?? schema["oneOf"];
  if (Array.isArray(choices)) return sampleValue(choices[0], root, depth + 1);
  const type: unknown = Array.isArray(schema["type"]) ? schema["type"][0] : schema["type"];
  if (type === "integer" || type === "number") return 1;
  if (type === "boolean") return true;
  if (type === "array") return [];
  if (type === "object") return sampleArgs(schema, root, depth);
  return type === "null" ? null : "…";
}
