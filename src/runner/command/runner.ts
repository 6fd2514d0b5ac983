// The runner `command`: its task runs one program once, and the exit status decides whether the task succeeds.

import { handedMessages } from "../../agent/delegation/handed-messages.ts";
import { TaskInput } from "../../agent/delegation/task-input.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { Durable, Runner } from "../../ports.ts";
import { type CommandConfig, commandLine, readCommandConfig } from "./config.ts";
import { commandFailure, CommandResult } from "./command-result.ts";
import { inputText } from "../shared/input-text.ts";
import { stepToEnd } from "../shared/step-to-end.ts";
import { runCommand } from "./run-command.ts";

export interface CommandRunnerOptions {
  /** Folders that no command may run in, such as the state folder. */
  readonly offLimits?: readonly string[];
}

export function commandRunner({ offLimits = [] }: CommandRunnerOptions = {}): Runner {
  return async (durable, rawConfig) => {
    const config = readCommandConfig(rawConfig);
    const result = await runOnce(durable, { config, rawConfig, offLimits });
    const failure = commandFailure(config, result);
    if (failure !== undefined) throw failure;
    return result;
  };
}

/** The text of the message; as JSON with all messages when the text alone would leave something out. */
async function programInput(durable: Durable): Promise<string> {
  const { task, input, shared } = durable;
  const prompt = inputText(input);
  const read = TaskInput.safeParse(input);
  if (!read.success) return prompt;
  const now = read.data.message.created_at ?? (await durable.now("prompt.at"));
  const messages = handedMessages({ task, input: read.data, shared, now });
  return messages.length === 0 ? prompt : `${JSON.stringify({ prompt, messages })}\n`;
}

interface OneRun {
  readonly config: CommandConfig;
  readonly rawConfig: unknown;
  readonly offLimits: readonly string[];
}

async function runOnce(durable: Durable, { config, rawConfig, offLimits }: OneRun): Promise<CommandResult> {
  const stdin = config.stdin ?? (await programInput(durable));
  try {
    return await stepToEnd(
      durable,
      { key: "run", repeatable: config.repeatable, schema: CommandResult, input: { config: rawConfig, stdin } },
      (context) => runCommand({ config, stdin, roots: durable.rights.roots, offLimits }, context),
    );
  } catch (thrown) {
    if (!(thrown instanceof TuttiError) || thrown.code !== "outcome_unknown") throw thrown;
    const { code, message, details, retry } = thrown;
    throw new TuttiError(code, `${message}: ${commandLine(config)}`, {
      cause: thrown,
      retry,
      ...(details === undefined ? {} : { details }),
    });
  }
}
