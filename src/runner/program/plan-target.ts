// Makes the tasks of a program: of one agent, of a workflow, and of several agents that work at the same time.

import { planFailure, planInvocation } from "../../agent/delegation/plan.ts";
import type { TaskInput } from "../../agent/delegation/task-input.ts";
import type { Durable, NewTask } from "../../ports.ts";
import { TuttiError } from "../../protocol/error.ts";
import { all } from "../../protocol/invocation/invocation-builders.ts";
import { programKind } from "../../protocol/invocation/runner-kinds.ts";
import { rootCaller } from "../invocation/runner.ts";
import { fanOutName, type FanOutInput, type WorkflowInput } from "./config.ts";
import type { Program, ProgramTarget, TargetOptions } from "./program.ts";

/** Which tools an agent gets when nobody calls it; worked out once for each agent of a program. */
const offered = new WeakMap<Program, Map<string, TaskInput["tools"]>>();

/** Throws before any task exists when the program has no such agent. */
export function agentTask(program: Program, { agent, message }: ProgramTarget, options: TargetOptions): NewTask {
  const { rights, now, budget } = options;
  const input: TaskInput = {
    agent: { type: "named", agent_id: agent },
    message: message.created_at === undefined ? { ...message, created_at: now } : message,
    tools: toolsOf(program, agent),
    context: "independent",
    ...(options.thread === true ? { thread: true } : {}),
  };
  const own = program.file.agents[agent]?.budget;
  const limits = own === undefined ? budget : { ...definedOf(own), ...budget };
  return {
    runner: { kind: programKind, config: {} },
    agent,
    input,
    rights,
    ...(limits === undefined ? {} : { budget: limits }),
  };
}

function toolsOf(program: Program, agent: string): TaskInput["tools"] {
  const known = offered.get(program) ?? new Map<string, TaskInput["tools"]>();
  offered.set(program, known);
  const found = known.get(agent);
  if (found !== undefined) return found;
  const { file, environment } = program;
  const caller = rootCaller({ file, environment, rights: { tools: "*", roots: [] }, now: 0 });
  const target = { agent: { type: "named" as const, agent_id: agent }, message: blank };
  const plan = planInvocation(caller, all([target]));
  if (!plan.ok) throw planFailure(plan);
  const [child] = plan.children;
  const tools = child === undefined ? [] : inputTools(child.input);
  known.set(agent, tools);
  return tools;
}

const blank = { name: null, role: "user" as const, parts: [{ part_type: "text" as const, data: "plan" }] };

function inputTools(input: unknown): TaskInput["tools"] {
  const tools: unknown = typeof input === "object" && input !== null && "tools" in input ? input.tools : undefined;
  if (tools === "*") return "*";
  return Array.isArray(tools) ? tools.filter((name) => typeof name === "string") : [];
}

/** A limit that is not set is left out, so that it does not hide another. */
function definedOf(budget: NonNullable<Program["file"]["budget"]>): NonNullable<NewTask["budget"]> {
  return Object.fromEntries(Object.entries(budget).filter(([, limit]) => limit !== undefined));
}

export function workflowTask(program: Program, input: WorkflowInput, options: TargetOptions): NewTask {
  const { rights, budget } = options;
  if (!program.workflows.has(input.workflow)) {
    const known = [...program.workflows.keys()].join(", ");
    throw new TuttiError(
      "not_found",
      `there is no workflow ${input.workflow}; there are: ${known === "" ? "none" : known}`,
    );
  }
  const limits = budget === undefined ? {} : { budget };
  return { runner: { kind: programKind, config: {} }, agent: input.workflow, input, rights, ...limits };
}

/** The tasks of the targets are its children. */
export function fanOutTask(program: Program, targets: readonly ProgramTarget[], options: TargetOptions): NewTask {
  // A target that cannot be started is told before anything is.
  for (const { agent } of targets) toolsOf(program, agent);
  const { rights, budget } = options;
  const input: FanOutInput = { fan_out: targets.map(({ agent, message }) => ({ agent, message })) };
  const limits = budget === undefined ? {} : { budget };
  return { runner: { kind: programKind, config: {} }, agent: fanOutName, input, rights, ...limits };
}

/** Spawns the targets as children; all of them or none. */
export async function spawnTargets(
  durable: Durable,
  program: Program,
  key: string,
  targets: readonly ProgramTarget[],
): Promise<string[]> {
  const now = await durable.now(`${key}.now`);
  return durable.spawn(
    key,
    targets.map((target) => carved(agentTask(program, target, { rights: durable.rights, now }))),
  );
}

/** Only tokens and money can be carved out of the budget of the caller. */
function carved(task: NewTask): NewTask {
  const { budget, ...rest } = task;
  const { tokens, money_micro_usd: money } = budget ?? {};
  if (tokens === undefined && money === undefined) return rest;
  return {
    ...rest,
    budget: { ...(tokens === undefined ? {} : { tokens }), ...(money === undefined ? {} : { money_micro_usd: money }) },
  };
}
