// Makes the runners that a config describes runners of its project's trees; their code runs in the config's own process.

import { z } from "zod";

import { findAgent } from "../../agent/delegation/find-agent.ts";
import { handedMessages } from "../../agent/delegation/handed-messages.ts";
import { TaskInput, treeFile } from "../../agent/delegation/task-input.ts";
import type { Durable, Runner } from "../../ports.ts";
import { messageText } from "../../protocol/task/message.ts";
import type { RunnerTask } from "../../runner/registered/define-runner.ts";
import type { ToolDescription } from "./config-messages.ts";
import type { ConfigProcess } from "./config-process.ts";

/** `call` says how the process is asked to run a task. */
export function configRunner(call: ToolDescription, process: ConfigProcess): Runner {
  return async (durable, config) => {
    const task = await taskFor(durable, config);
    return durable.step("run", { repeatable: call.repeatable, schema: z.unknown(), input: task }, (step) =>
      process.call({ ...call, of: "runners" }, task, { step, rights: durable.rights }),
    );
  };
}

async function taskFor(durable: Durable, config: unknown): Promise<RunnerTask> {
  const input = TaskInput.parse(durable.input);
  const { agent: ref, message } = input;
  const { agent, task, attempt } = durable;
  const instructions = findAgent(treeFile(durable.rootInput), ref)?.instructions ?? "";
  const { shared } = durable;
  const messages = handedMessages({ task, input, shared, now: message.created_at ?? (await durable.now("prompt.at")) });
  const told = { config, agent, instructions, message: messageText(message), task, attempt };
  return messages.length === 0 ? told : { ...told, messages };
}
