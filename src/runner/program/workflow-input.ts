// What a workflow was started with: an input of its own, or the prompt of whoever called it as an agent.

import { TaskInput } from "../../agent/delegation/task-input.ts";
import type { Durable } from "../../ports.ts";
import { TuttiError } from "../../protocol/error.ts";
import { readWrittenJson } from "../../protocol/json/written-json.ts";
import { messageText } from "../../protocol/task/message.ts";
import { WorkflowInput } from "./config.ts";

/** A prompt is the input as JSON where it can be read as that, and a text otherwise. The workflow's schema has not read it yet. */
export function workflowInput({ input, agent }: Pick<Durable, "input" | "agent">): unknown {
  const started = WorkflowInput.safeParse(input);
  if (started.success) return started.data.input;
  const called = TaskInput.safeParse(input);
  if (!called.success) throw new TuttiError("invalid_input", `${agent} was started with something that is no input`);
  const text = messageText(called.data.message);
  const read = readWrittenJson(text);
  return read.ok ? read.value : text;
}
