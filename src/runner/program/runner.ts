// The runner `program`: runs agents and workflows that are the code of a program, found by their names.

import { agentLoop } from "../../agent/loop/loop.ts";
import { hasFields, isObject, isPlainOpening } from "../../agent/loop/plain-message.ts";
import type { Durable, Runner } from "../../ports.ts";
import { fanOutName, FanOutInput, type FanOutResult } from "./config.ts";
import { spawnTargets } from "./plan-target.ts";
import type { Program, ProgramWorkflow } from "./program.ts";
import { workflowInput } from "./workflow-input.ts";

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
  const tasks = await spawnTargets(durable, program, "targets", targetsIn(durable.input));
  await durable.join(tasks);
  return { tasks };
}

const targetFields = ["agent", "message"];

/** As `FanOutInput` gives them. There may be thousands, so the usual ones are recognised without the cost of validation. */
function targetsIn(input: unknown): FanOutInput["fan_out"] {
  const { fan_out: given }: { fan_out?: unknown } = Object(input);
  return Array.isArray(given) && given.every(isPlainTarget) ? given : FanOutInput.parse(input).fan_out;
}

function isPlainTarget(target: unknown): target is FanOutInput["fan_out"][number] {
  if (!isObject(target) || !hasFields(target, targetFields)) return false;
  return typeof target["agent"] === "string" && isPlainOpening(target["message"]);
}

async function runWorkflow(durable: Durable, workflow: ProgramWorkflow): Promise<unknown> {
  const result = await workflow.run(durable, await workflow.read(workflowInput(durable)));
  return result ?? null;
}
