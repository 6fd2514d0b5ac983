// Makes the runners that a config describes runners of its project's trees; their code runs in the config's own process.

import { z } from "zod";

import { findAgent } from "../../agent/delegation/find-agent.ts";
import { TaskInput, treeFile } from "../../agent/delegation/task-input.ts";
import type { Durable, Runner } from "../../ports.ts";
import { messageText } from "../../protocol/task/message.ts";
import type { RunnerTask } from "../../runner/registered/define-runner.ts";
import type { ToolDescription } from "./config-messages.ts";
import type { ConfigProcess } from "./config-process.ts";

/** `call` says how the process is asked to run a task. */
export function configRunner(call: ToolDescription, process: ConfigProcess): Runner {
  return (durable, config) => {
    const task = taskFor(durable, config);
    return durable.step("run", { repeatable: call.repeatable, schema: z.unknown(), input: task }, (step) =>
      process.call({ ...call, of: "runners" }, task, { step, rights: durable.rights }),
    );
  };
}

function taskFor(durable: Durable, config: unknown): RunnerTask {
  const { agent: ref, message } = TaskInput.parse(durable.input);
  const { agent, task, attempt } = durable;
  const instructions = findAgent(treeFile(durable.rootInput), ref)?.instructions ?? "";
  return { config, agent, instructions, message: messageText(message), task, attempt };
}
