// The runner of kind `command`: a task that is one program, run once, its exit status the task's outcome.

import { z } from "zod";

import { TuttiError } from "../../protocol/error.ts";
import { Message, messageText } from "../../protocol/task/message.ts";
import type { Durable, Runner } from "../../ports.ts";
import { type CommandConfig, commandLine, readCommandConfig } from "./config.ts";
import { commandFailure, CommandResult } from "./command-result.ts";
import { runCommand } from "./run-command.ts";

export const commandRunner: Runner = async (durable, rawConfig) => {
  const config = readCommandConfig(rawConfig);
  const result = await runOnce(durable, config, rawConfig);
  const failure = commandFailure(config, result);
  if (failure !== undefined) throw failure;
  return result;
};

async function runOnce(durable: Durable, config: CommandConfig, rawConfig: unknown): Promise<CommandResult> {
  const stdin = config.stdin ?? targetText(durable.input);
  let body: Promise<unknown> | undefined;
  try {
    return await durable.step(
      "run",
      { repeatable: config.repeatable, schema: CommandResult, input: { config: rawConfig, stdin } },
      (context) => {
        const running = runCommand({ config, stdin, roots: durable.rights.roots }, context);
        body = running;
        return running;
      },
    );
  } catch (thrown) {
    if (!(thrown instanceof TuttiError) || thrown.code !== "outcome_unknown") throw thrown;
    const { code, message, details, retry } = thrown;
    throw new TuttiError(code, `${message}: ${commandLine(config)}`, {
      cause: thrown,
      retry,
      ...(details === undefined ? {} : { details }),
    });
  } finally {
    // A canceled step returns at once; its task must not give back its slot and folder while the processes are there.
    await body?.catch(() => undefined);
  }
}

const HasMessage = z.object({ message: Message });

/** The text a task of any kind was given: its message, or what it is when that is the whole input. */
function targetText(input: unknown): string {
  if (typeof input === "string") return input;
  const held = HasMessage.safeParse(input);
  const message = held.success ? held : Message.safeParse(input);
  if (!message.success) return "";
  return messageText("message" in message.data ? message.data.message : message.data);
}
