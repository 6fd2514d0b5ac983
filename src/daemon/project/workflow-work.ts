// Carries out the operations of a workflow whose code runs in another process, and asks that process for the bodies of its steps.

import { z } from "zod";

import type { AgentEnvironment } from "../../agent/agent-environment.ts";
import { findAgent } from "../../agent/delegation/find-agent.ts";
import type { Caller } from "../../agent/delegation/invocation-caller.ts";
import { planFailure, planInvocation } from "../../agent/delegation/plan.ts";
import { TaskInput, treeFile } from "../../agent/delegation/task-input.ts";
import type { AskSpec, Durable, NewTask, RunningStep } from "../../ports.ts";
import { toTuttiError, TuttiError } from "../../protocol/error.ts";
import { errorOfFailure, toFailure } from "../../protocol/failure.ts";
import { all } from "../../protocol/invocation/invocation-builders.ts";
import type { WorkflowOperation, WorkflowOrder, WorkflowReport } from "../../protocol/invocation/workflow-messages.ts";
import { Answer } from "../../protocol/task/ask.ts";
import { messageText, userMessage } from "../../protocol/task/message.ts";
import type { WorkflowInput } from "../../runner/program/config.ts";

/** A workflow may do many things at a time, but not so many that its process could fill the memory of this one. */
const mostOpen = 10_000;

export interface WorkflowPlace {
  readonly environment: AgentEnvironment;
  /** The runner of a workflow that this one starts. Throws when there is none. */
  readonly runnerOf: (name: string) => NewTask["runner"];
  /** How people are asked what the workflow asks; as the workflow has it when absent. */
  readonly askOf?: (ask: AskSpec) => AskSpec;
}

/** What one process does of one run of a workflow. */
export class WorkflowWork {
  readonly #durable: Durable;
  readonly #place: WorkflowPlace;
  readonly #bodies = new Map<number, { readonly step: RunningStep; settle: (report: WorkflowReport) => void }>();
  /** The numbers of the operations that were asked for: one that is told twice is done once. */
  #lastOperation = 0;
  #open = 0;
  #send: (order: WorkflowOrder) => void = () => undefined;
  /** Whether the body of a step has ended. */
  hasProgressed = false;

  constructor(durable: Durable, place: WorkflowPlace) {
    this.#durable = durable;
    this.#place = place;
  }

  attach(send: (order: WorkflowOrder) => void): void {
    this.#send = send;
  }

  hear(report: WorkflowReport): void {
    if (report.kind === "operation") this.#begin(report.op, report.operation);
    else if (report.kind === "progress") this.#bodies.get(report.op)?.step.live("output", report.text);
    else this.#bodies.get(report.op)?.settle(report);
  }

  #begin(op: number, operation: WorkflowOperation): void {
    if (op <= this.#lastOperation) return;
    this.#lastOperation = op;
    const refuse = (thrown: unknown): void =>
      this.#send({ kind: "refused", op, failure: toFailure(toTuttiError(thrown)) });
    if (this.#open >= mostOpen) {
      return refuse(
        new TuttiError("refused", `the workflow has ${mostOpen} operations open; await some of them first`),
      );
    }
    this.#open += 1;
    this.#perform(op, operation)
      // JSON would leave undefined out.
      .then((value) => this.#send({ kind: "done", op, value: value ?? null }), refuse)
      .finally(() => (this.#open -= 1));
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
        const { askOf = (given) => given } = this.#place;
        return durable.wait(key, { ask: askOf(spec), ...(within === undefined ? {} : { within }), schema: Answer });
      }
    }
  }

  /** Runs the body where the function is. */
  #body(op: number, step: RunningStep): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const abort = (): void => this.#send({ kind: "abort", op });
      const settle = (report: WorkflowReport): void => {
        this.#bodies.delete(op);
        this.hasProgressed = true;
        step.signal.removeEventListener("abort", abort);
        if (report.kind === "body_done") resolve(report.value);
        else if (report.kind === "body_failed") reject(errorOfFailure(report.failure));
      };
      this.#bodies.set(op, { step, settle });
      step.signal.addEventListener("abort", abort, { once: true });
      this.#send({ kind: "body", op, step: step.key });
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
      environment: this.#place.environment,
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
    const input: WorkflowInput = { workflow: name, input: given };
    return { runner: this.#place.runnerOf(name), agent: name, input, rights: this.#durable.rights };
  }
}
