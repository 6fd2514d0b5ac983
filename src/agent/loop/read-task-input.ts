// Reads what a task starts from: the usual inputs are recognised without the cost of full validation.

import { TaskInput } from "../delegation/task-input.ts";
import { hasFields, isObject, isPlainOpening } from "./plain-message.ts";

/** Gives the same as `TaskInput` for every value. */
export function readTaskInput(value: unknown): TaskInput {
  return isPlainInput(value) ? value : TaskInput.parse(value);
}

const inputFields = ["agent", "message", "tools", "context"];
const agentFields = ["type", "agent_id"];
const contexts: ReadonlySet<unknown> = new Set(TaskInput.shape.context.options);

/** Whether it is the input of a named agent with a plain message, and nothing else: `TaskInput` would return an equal value. */
function isPlainInput(value: unknown): value is TaskInput {
  if (!isObject(value) || !hasFields(value, inputFields)) return false;
  const { agent, message, tools, context } = value;
  if (!isObject(agent) || !hasFields(agent, agentFields)) return false;
  const isNamed = agent["type"] === "named" && typeof agent["agent_id"] === "string";
  return isNamed && isPlainOpening(message) && areNames(tools) && contexts.has(context);
}

function areNames(tools: unknown): boolean {
  return tools === "*" || (Array.isArray(tools) && tools.every((name) => typeof name === "string"));
}
