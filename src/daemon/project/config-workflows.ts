// Makes a workflow that a config registers a runner of its project's trees: its code runs in the config's own process, and asks for every operation.

import { z } from "zod";

import { agentEnvironment, type AgentEnvironment } from "../../agent/agent-environment.ts";
import { findAgent } from "../../agent/delegation/find-agent.ts";
import type { Caller } from "../../agent/delegation/invocation-caller.ts";
import { planFailure, planInvocation } from "../../agent/delegation/plan.ts";
import { TaskInput, treeFile } from "../../agent/delegation/task-input.ts";
import type { Durable, NewTask, Runner, RunningStep } from "../../ports.ts";
import { toTuttiError, TuttiError } from "../../protocol/error.ts";
import { toFailure } from "../../protocol/failure.ts";
import { all } from "../../protocol/invocation/invocation-builders.ts";
import { Answer } from "../../protocol/task/ask.ts";
import { messageText, userMessage } from "../../protocol/task/message.ts";
import type { WorkflowInput } from "../../runner/program/config.ts";
import { workflowInput } from "../../runner/program/workflow-input.ts";
import { type CallReply, type ConfigRequest, errorOf, type WorkflowOperation } from "./config-messages.ts";
import { type ConfigProcess, LostProcess } from "./config-process.ts";

/** How often in a row the process may end under a workflow without any body of it having ended. */
const mostLosses = 3;

export function configWorkflow(kind: string, process: ConfigProcess, given: Partial<AgentEnvironment>): Runner {
  const environment = agentEnvironment(given);
  const losses = new Map<string, number>();
  return async (durable, config) => {
    if (Object.keys(Object(config)).length > 0) {
      const message = `the runner ${kind} is a workflow and takes its input from the prompt, so it has no config; leave \`config\` out`;
      throw new TuttiError("invalid_input", message);
    }
    const { task, attempt, agent, run } = durable;
    const place = `${task}/${attempt}.${run}`;
    const work = new WorkflowWork(durable, environment);
    try {
      const result = await process.run((id, send) => {
        work.attach(id, send);
        const request = { kind: "run" as const, id, name: kind, input: workflowInput(durable), task, attempt, agent };
        return { request, heard: (reply) => work.hear(reply), signal: durable.signal };
      });
      losses.delete(place);
      return result;
    } catch (thrown) {
      const count = (work.hasProgressed ? 0 : (losses.get(place) ?? 0)) + 1;
      losses.delete(place);
      if (!(thrown instanceof LostProcess) || count > mostLosses) throw thrown;
      losses.set(place, count);
      // As after a restart: the next process begins the function again, and what was recorded is not done again.
      return durable.replay();
    }
  };
}

/** What one process does of one run of a workflow. */
class WorkflowWork {
  readonly #durable: Durable;
  readonly #environment: AgentEnvironment;
  readonly #bodies = new Map<number, { readonly step: RunningStep; settle: (reply: CallReply) => void }>();
  #id = 0;
  #send: (request: ConfigRequest) => void = () => undefined;
  /** Whether the body of a step has ended. */
  hasProgressed = false;

  constructor(durable: Durable, environment: AgentEnvironment) {
    this.#durable = durable;
    this.#environment = environment;
  }

  attach(id: number, send: (request: ConfigRequest) => void): void {
    this.#id = id;
    this.#send = send;
  }

  hear(reply: CallReply): void {
    if (reply.kind === "operation") {
      const { op } = reply;
      this.#perform(op, reply.operation).then(
        (value) => this.#send({ kind: "done", id: this.#id, op, value }),
        (thrown: unknown) =>
          this.#send({ kind: "refused", id: this.#id, op, failure: toFailure(toTuttiError(thrown)) }),
      );
    } else if (reply.kind === "body_done" || reply.kind === "body_failed") this.#bodies.get(reply.op)?.settle(reply);
    else if (reply.kind === "progress" && reply.op !== undefined) {
      this.#bodies.get(reply.op)?.step.live("output", reply.text);
    }
  }

  async #perform(op: number, operation: WorkflowOperation): Promise<unknown> {
    const durable = this.#durable;
    const { key } = operation;
    switch (operation.do) {
      case "step": {
        const { repeatable, timeout_ms, input } = operation;
        const limits = {
          ...(timeout_ms === undefined ? {} : { timeout: timeout_ms }),
          ...(input === undefined ? {} : { input }),
        };
        return durable.step(key, { repeatable, schema: z.unknown(), ...limits }, (step) => this.#body(op, step));
      }
      case "sleep":
        return durable.sleep(key, operation.ms);
      case "now":
        return durable.now(key);
      case "id":
        return durable.id(key);
      case "receive": {
        const message = await durable.receive(key, { block: true });
        return message === undefined ? "" : messageText(message);
      }
      case "agents":
        return durable.join(await durable.spawn(key, await this.#planned(key, operation.targets)));
      case "workflow": {
        const [result] = await durable.join(await durable.spawn(key, [this.#child(operation.name, operation.input)]));
        return result;
      }
      case "wait": {
        const { ask, within } = operation;
        const { choices, ...rest } = ask;
        const spec = { ...rest, ...(choices === undefined ? {} : { choices }) };
        return durable.wait(key, { ask: spec, ...(within === undefined ? {} : { within }), schema: Answer });
      }
    }
  }

  /** Runs the body where the function is. */
  #body(op: number, step: RunningStep): Promise<unknown> {
    const id = this.#id;
    return new Promise((resolve, reject) => {
      const abort = (): void => this.#send({ kind: "abort", id, op });
      const settle = (reply: CallReply): void => {
        this.#bodies.delete(op);
        this.hasProgressed = true;
        step.signal.removeEventListener("abort", abort);
        if (reply.kind === "body_done") resolve(reply.value);
        else if (reply.kind === "body_failed") reject(errorOf(reply.failure));
      };
      this.#bodies.set(op, { step, settle });
      step.signal.addEventListener("abort", abort, { once: true });
      this.#send({ kind: "body", id, op, step: step.key });
    });
  }

  /** The agents are those of the tree, and each is planned like one that an agent calls: it has no more rights than the workflow. */
  async #planned(
    key: string,
    targets: readonly { readonly agent: string; readonly prompt: string }[],
  ): Promise<readonly NewTask[]> {
    const durable = this.#durable;
    const { thread: _, ...file } = treeFile(durable.rootInput);
    const called = TaskInput.safeParse(durable.input).data;
    const found = called === undefined ? undefined : findAgent(file, called.agent);
    const caller: Caller = {
      file,
      environment: this.#environment,
      rights: durable.rights,
      offeredTools: called?.tools ?? "*",
      agent: found === undefined || called === undefined ? undefined : { ...found, input: called },
      now: await durable.now(`${key}.now`),
    };
    const wanted = targets.map(({ agent, prompt }) => ({
      agent: { type: "named" as const, agent_id: agent },
      message: userMessage(prompt),
    }));
    const plan = planInvocation(caller, all(wanted));
    if (!plan.ok) throw planFailure(plan);
    return plan.children;
  }

  #child(name: string, given: unknown): NewTask {
    if (!this.#environment.runners.some(({ kind }) => kind === name)) {
      throw new TuttiError("not_found", `the config has no workflow ${name} among its runners; add it there`);
    }
    const input: WorkflowInput = { workflow: name, input: given };
    return { runner: { kind: name, config: {} }, agent: name, input, rights: this.#durable.rights };
  }
}
