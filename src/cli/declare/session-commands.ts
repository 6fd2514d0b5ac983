// Declares the commands that watch, stop and kill the sessions of tasks.
import { type Command, InvalidArgumentError } from "commander";

import type { Host } from "../../host/host.ts";
import type { KillOptions } from "../commands/kill.ts";
import type { ObserveOptions } from "../commands/observe.ts";
import type { SessionsOptions } from "../commands/sessions.ts";
import type { StopOptions } from "../commands/stop.ts";
import { jsonOption, stateOption, taskArgument } from "../options.ts";

const mostRecent = 100;

export function declareSessionCommands(program: Command, host: () => Promise<Host>): void {
  program
    .command("sessions")
    .description("list the sessions of tasks that are not over, with what each is doing")
    .addOption(stateOption())
    .addOption(jsonOption())
    .action(async (options: SessionsOptions) => {
      const { sessionsCommand } = await import("../commands/sessions.ts");
      await sessionsCommand(await host(), options);
    });
  program
    .command("observe")
    .argument("<task>", taskArgument)
    .description(
      "tell what the session of a task is doing: working, waiting, delegating, stalled, looping, idle, stopped",
    )
    .option("-n, --recent <count>", "how many of its latest events to show", recentCount, 10)
    .addOption(stateOption())
    .addOption(jsonOption())
    .action(async (task: string, options: ObserveOptions) => {
      const { observeCommand } = await import("../commands/observe.ts");
      await observeCommand(await host(), task, options);
    });
  program
    .command("stop")
    .argument("<task>", taskArgument)
    .description("end what a task is doing; `tutti resume TASK` goes on from there, within 30 days")
    .option("--reason <text>", "why it is stopped")
    .addOption(stateOption())
    .addOption(jsonOption())
    .action(async (task: string, options: StopOptions) => {
      const { stopCommand } = await import("../commands/stop.ts");
      await stopCommand(await host(), task, options);
    });
  program
    .command("kill")
    .argument("<task>", taskArgument)
    .description("end a task and all below it at once, and remove its workspace; uncommitted work is saved first")
    .option("--reason <text>", "why it is killed")
    .addOption(stateOption())
    .addOption(jsonOption())
    .action(async (task: string, options: KillOptions) => {
      const { killCommand } = await import("../commands/kill.ts");
      await killCommand(await host(), task, options);
    });
}

function recentCount(text: string): number {
  const count = Number(text);
  if (/^\d+$/.test(text) && count <= mostRecent) return count;
  throw new InvalidArgumentError(`It is a number from 0 to ${mostRecent}.`);
}
