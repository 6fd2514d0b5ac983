// Runs in this process: the program's agents and workflows over a state folder, or over a state in memory.

import { createHash } from "node:crypto";
import { resolve } from "node:path";

import { builtinTools } from "../agent/agent-environment.ts";
import { type OpenedProgram, openProgram } from "../daemon/state/open-program.ts";
import type { NewTask, StartOptions } from "../ports.ts";
import { TuttiError } from "../protocol/error.ts";
import type { AgentResult } from "../protocol/invocation/invocation-result.ts";
import { InvocationFile } from "../protocol/invocation/invocation-file.ts";
import { all } from "../protocol/invocation/invocation-builders.ts";
import { type Budget, defaultBudget } from "../protocol/task/budget.ts";
import { userMessage } from "../protocol/task/message.ts";
import { FanOutResult } from "../runner/program/config.ts";
import { agentTask, fanOutTask, workflowTask } from "../runner/program/plan-target.ts";
import type { AnyAgent } from "./code-agent.ts";
import type { CodeWorkflow } from "./code-workflow.ts";
import { type CompiledProgram, compileProgram } from "./compile-program.ts";
import type { OpenLocalOptions } from "./open-tutti.ts";
import type { RunSource, StartedRun, StartSettings } from "./run-source.ts";
import type { AnyTarget } from "./run-target.ts";
import { knownAgent, programWorkflow } from "./program-workflow.ts";

/** Tasks that run at the same time when nobody says otherwise. Most of the time they wait for a model. */
const defaultConcurrency = 256;

export async function localSource(options: OpenLocalOptions): Promise<RunSource> {
  const { agents = [], workflows = [], model, approvals, models, testing } = options;
  if ((options.state === undefined) === (options.memory !== true)) {
    throw new TuttiError("invalid_input", "openTutti needs either `state`, a folder, or `memory: true`");
  }
  const compiled = compileProgram({ agents, workflows, model, approvals });
  const slots = options.concurrency ?? defaultConcurrency;
  const opened = await openProgram({
    state: options.state,
    slots,
    file: fileOf(compiled),
    environment: {
      tools: [...builtinTools, ...compiled.tools],
      approvals: [{ from: "user", rules: compiled.approvals }],
      outputChecks: compiled.outputChecks,
    },
    workflows: (program) => compiled.workflows.map((each) => programWorkflow(each, program)),
    models: compiled.models,
    modelsConfig: models,
    mcpServers: options.mcpServers,
    clock: testing?.clock,
    crash: testing?.crash,
  });
  return new LocalSource(opened, slots);
}

function fileOf({ agents }: CompiledProgram): InvocationFile {
  return InvocationFile.parse({ invocation: all([]), agents });
}

class LocalSource implements RunSource {
  readonly isShared = false;
  readonly #opened: OpenedProgram;
  readonly #limits: Partial<Budget>;

  constructor(opened: OpenedProgram, slots: number) {
    this.#opened = opened;
    this.#limits = { concurrency: slots };
  }

  get client(): RunSource["client"] {
    return this.#opened.client;
  }

  get crashed(): Promise<void> {
    return this.#opened.crashed;
  }

  parked(): OpenedProgram["parked"] {
    return this.#opened.parked;
  }

  startAgent(agent: AnyAgent, prompt: string, settings: StartSettings): Promise<StartedRun> {
    knownAgent(this.#opened.program, agent.name);
    const target = { agent: agent.name, message: userMessage(prompt) };
    const thread = settings.thread !== undefined;
    const task = agentTask(this.#opened.program, target, { ...this.#options(settings, 1), thread });
    return this.#start(task, settings, ["agent", agent.name, prompt]);
  }

  startFanOut(targets: readonly AnyTarget[], settings: StartSettings): Promise<StartedRun> {
    if (targets.length === 0) throw new TuttiError("invalid_input", "a fan-out needs at least one target");
    for (const { agent } of targets) knownAgent(this.#opened.program, agent.name);
    const wanted = targets.map(({ agent, prompt }) => ({ agent: agent.name, message: userMessage(prompt) }));
    const task = fanOutTask(this.#opened.program, wanted, this.#options(settings, targets.length + 1));
    const content = settings.key === undefined ? [] : targets.flatMap(({ agent, prompt }) => [agent.name, prompt]);
    return this.#start(task, settings, ["fan-out", ...content]);
  }

  async startWorkflow(workflow: CodeWorkflow, input: unknown, settings: StartSettings): Promise<StartedRun> {
    const { program } = this.#opened;
    const task = workflowTask(program, { workflow: workflow.name, input }, this.#options(settings, 1));
    // A mistake is told at once and starts nothing.
    await program.workflows.get(workflow.name)?.read(input);
    return this.#start(task, settings, ["workflow", workflow.name, JSON.stringify(input) ?? ""]);
  }

  send(task: string, text: string): Promise<unknown> {
    return this.client.sendMessage(task, text);
  }

  agentResult(task: string, signal?: AbortSignal): Promise<AgentResult> {
    return this.client.result(task, signal);
  }

  async targetResults(task: string, signal?: AbortSignal): Promise<readonly AgentResult[]> {
    const ended = await this.client.result(task, signal);
    const { data } = FanOutResult.safeParse(ended.content);
    return data === undefined ? [ended] : Promise.all(data.tasks.map((each) => this.client.result(each, signal)));
  }

  close(): Promise<void> {
    return this.#opened.close();
  }

  #options({ budget, roots = [] }: StartSettings, tasks: number) {
    return {
      rights: { tools: "*" as const, roots: roots.map((root) => resolve(root)) },
      now: this.#opened.clock.now(),
      budget: { ...this.#limits, tasks: Math.max(defaultBudget.tasks, tasks), ...budget },
    };
  }

  #start(task: NewTask, settings: StartSettings, content: readonly string[]): Promise<StartedRun> {
    const { key, budget, roots = [], thread } = settings;
    const place: StartOptions = thread === undefined ? {} : { thread: { project: "", thread, kind: "agent" } };
    if (key === undefined) return this.#opened.tasks.start(task, place);
    const all = JSON.stringify([...content, budget ?? {}, roots, ...(thread === undefined ? [] : [thread])]);
    return this.#opened.tasks.start(task, {
      ...place,
      once: { key: `program ${key}`, content: createHash("sha256").update(all).digest("hex") },
    });
  }
}
