// Asks a person before a runner is started that the definition of a project's agent names.

import { z } from "zod";

import { approvalOutcome } from "../../core/approval.ts";
import { inLine, quoted } from "../../core/foreign-words.ts";
import { fingerprint } from "../../core/fingerprint.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { RunnerConfig } from "../../protocol/invocation/executor.ts";
import { AgentDefinition } from "../../protocol/invocation/invocation-file.ts";
import { Answer } from "../../protocol/task/ask.ts";
import type { Durable, Runner } from "../../ports.ts";
import { inputText } from "./input-text.ts";

/**
 * The files of a project can come from anybody who can commit to it, and a runner can do whatever its user can. An executor
 * that the caller forces, and a runner in a definition of the caller or of the user, are the decision of that person.
 */
export function approved(kind: string, runner: Runner): Runner {
  return async (durable, config) => {
    if (isOfProject(durable, { kind, config })) await awaitApproval(durable, { kind, config });
    return runner(durable, config);
  };
}

const { from_project, runner: named } = AgentDefinition.shape;
const RootInput = z.object({ agents: z.record(z.string(), z.object({ from_project, runner: named })) });

function isOfProject(durable: Durable, { kind, config }: RunnerConfig): boolean {
  const agents = RootInput.safeParse(durable.rootInput).data?.agents ?? {};
  const definition = Object.hasOwn(agents, durable.agent) ? agents[durable.agent] : undefined;
  if (definition?.from_project !== true || definition.runner?.kind !== kind) return false;
  return fingerprint(definition.runner.config) === fingerprint(config);
}

async function awaitApproval(durable: Durable, runner: RunnerConfig): Promise<void> {
  const { agent } = durable;
  const question =
    `May ${inLine(agent)} run with the runner ${inLine(runner.kind)}? A file of the project says so, and the runner is ` +
    `not confined to the task's folders.\n${quoted(JSON.stringify(runner.config, null, 2) ?? "null")}\n` +
    // A shell takes what it is told for commands.
    `It is told:\n${quoted(inputText(durable.input))}`;
  const waited = await durable.wait("runner.approval", {
    ask: { kind: "approval", question, details: { agent, runner } },
    schema: Answer,
  });
  const outcome = approvalOutcome(waited);
  if (!outcome.approved) throw new TuttiError("refused", `${agent} was not started: ${outcome.reason}`);
}
