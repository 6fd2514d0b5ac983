// The breaker: a coding agent that failed several times in a row is not launched again before a person looked.

import { z } from "zod";

import { approvalOutcome } from "../../core/approval.ts";
import { inLine } from "../../core/foreign-words.ts";
import { TuttiError } from "../../protocol/error.ts";
import { Answer } from "../../protocol/task/ask.ts";
import { AgentFailure } from "../../protocol/task/agent-failure.ts";
import type { Durable } from "../../ports.ts";

/** What is remembered of the failures of coding agents, by profile and model. It outlasts restarts. */
export interface Breaker {
  /** The failures in a row for which the agent is held back; none when it may be launched. */
  heldBack(agent: string): readonly AgentFailure[];
  /** Once for each attempt, however often it is told. */
  failed(agent: string, failure: AgentFailure): void;
  /** The agent has done its work, or a person wants it to be launched again. */
  cleared(agent: string): void;
}

/** The name under which failures are counted; a policy and `--runner` name the agent in the same way. */
export function agentRef(profile: string, model: string | undefined): string {
  return model === undefined ? `acp:${profile}` : `acp:${profile}/${model}`;
}

export interface Watched {
  readonly breaker: Breaker | undefined;
  /** As `agentRef` names it. */
  readonly agent: string;
}

const Failures = z.array(AgentFailure);

/** Asks when the agent is held back. Throws `refused` when it is not to be launched. */
export async function askIfHeldBack(durable: Durable, { breaker, agent }: Watched): Promise<void> {
  if (breaker === undefined) return;
  // Recorded, so that a restart asks the same question although the agent did well meanwhile.
  const failures = await durable.step("breaker", { repeatable: true, schema: Failures, looks: true }, () => [
    ...breaker.heldBack(agent),
  ]);
  if (failures.length === 0) return;
  const question = [
    `${inLine(agent)} failed ${failures.length} times in a row. Launch it again? A no fails this task.`,
    ...failures.map(({ task, message }) => `${task}: ${inLine(message)}`),
  ].join("\n");
  const waited = await durable.wait("breaker.approval", {
    ask: { kind: "approval", question, details: { agent, failures } },
    schema: Answer,
  });
  const outcome = approvalOutcome(waited);
  if (!outcome.approved) {
    throw new TuttiError("refused", `${agent} failed several times and was not launched: ${outcome.reason}`);
  }
  await durable.step("breaker.cleared", { repeatable: true, schema: z.null(), looks: true }, () => {
    breaker.cleared(agent);
    return null;
  });
}

/** Failures that tell of the agent. What people, limits and logins ended says nothing about it. */
const counted: readonly unknown[] = ["task_failed", "io", "unreachable", "too_large", "internal"];
const longestMessage = 300;

export async function noteFailure(durable: Durable, { breaker, agent }: Watched, thrown: unknown): Promise<void> {
  if (breaker === undefined || durable.signal.aborted) return;
  if (!(thrown instanceof TuttiError) || thrown.code !== "step_failed") return;
  if (!counted.includes(thrown.details?.["code"])) return;
  const message = inLine(thrown.message.slice(0, longestMessage).toWellFormed());
  await durable.step("failure.noted", { repeatable: true, schema: z.null(), looks: true }, (step) => {
    breaker.failed(agent, { task: durable.task, attempt: durable.attempt, at: step.now(), message });
    return null;
  });
}
