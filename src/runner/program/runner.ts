// The runner `program`: runs agents and workflows that are the code of a program, found by their names.

import { TaskInput } from "../../agent/delegation/task-input.ts";
import { agentLoop } from "../../agent/loop/loop.ts";
import type { Durable, Runner } from "../../ports.ts";
import { TuttiError } from "../../protocol/error.ts";
import { readWrittenJson } from "../../protocol/json/written-json.ts";
import { messageText } from "../../protocol/task/message.ts";
import { fanOutName, FanOutInput, type FanOutResult, WorkflowInput } from "./config.ts";
import { spawnTargets } from "./plan-target.ts";
import type { Program, ProgramWorkflow } from "./program.ts";

/** Whether the program has what a task of this name needs. A task whose name is gone waits for a program that has it. */
export function hasName({ file, workflows }: Program, name: string): boolean {
  return name === fanOutName || Object.hasOwn(file.agents, name) || workflows.has(name);
}

export function programRunner(program: Program): Runner {
  const { environment, file } = program;
  const model = () => program.model;
  return (durable) => {
    if (durable.agent === fanOutName) return fanOut(durable, program);
    const workflow = program.workflows.get(durable.agent);
    return workflow === undefined ? agentLoop(durable, { model, environment, file }) : runWorkflow(durable, workflow);
  };
}

async function fanOut(durable: Durable, program: Program): Promise<FanOutResult> {
  const { fan_out: targets } = FanOutInput.parse(durable.input);
  const tasks = await spawnTargets(durable, program, "targets", targets);
  await durable.join(tasks);
  return { tasks };
}

async function runWorkflow(durable: Durable, workflow: ProgramWorkflow): Promise<unknown> {
  const result = await workflow.run(durable, await workflow.read(inputOf(durable)));
  return result ?? null;
}

/** An agent calls a workflow with a text, which is its input as JSON where that can be read. */
function inputOf({ input, agent }: Durable): unknown {
  const started = WorkflowInput.safeParse(input);
  if (started.success) return started.data.input;
  const called = TaskInput.safeParse(input);
  if (!called.success) throw new TuttiError("invalid_input", `${agent} was started with something that is no input`);
  const text = messageText(called.data.message);
  const read = readWrittenJson(text);
  return read.ok ? read.value : text;
}
