// Declares the commands of the daemon: up and down, how it is, its pause, its keys and its operators.
import { type Command, Option } from "commander";

import type { Host } from "../../host/host.ts";
import type { KeyRole } from "../../protocol/api/service.ts";
import type { DownOptions } from "../commands/down.ts";
import type { KeysOptions } from "../commands/keys.ts";
import type { OperatorsOptions } from "../commands/operators.ts";
import { jsonOption, port, seconds, stateOption } from "../options.ts";
import type { PauseOptions } from "../commands/pause.ts";
import type { StatusOptions } from "../commands/status.ts";
import type { UpCommandOptions } from "../commands/up.ts";

// Spelt out, so that the help does not load every schema.
const roles: readonly KeyRole[] = ["viewer", "operator", "admin"];

const graceOption = (): Option =>
  new Option(
    "--grace <seconds>",
    "how long steps under way may take to finish when it stops; 10 when absent",
  ).argParser(seconds);

export function addService(program: Command, host: () => Promise<Host>): void {
  program
    .command("up")
    .description("run the daemon: everything else then works through it, and it survives being killed")
    .option("--detach", "in a process of its own; its log is daemon.log in the state folder")
    .option("--host <address>", "where it listens; 127.0.0.1 when absent")
    .addOption(new Option("--port <number>", "7878 or a free one when absent; 0 for any that is free").argParser(port))
    .option("--tls-cert <file>", "its certificate, PEM; needed beyond this machine")
    .option("--tls-key <file>", "the certificate's key, PEM")
    .option("--insecure", "beyond this machine without TLS")
    .option("--public-url <url>", "how others reach it, behind a proxy or on 0.0.0.0; told to workers")
    .option("--log-level <level>", "trace, debug, info, warn, error; info when absent")
    .addOption(graceOption())
    .option("--cwd <folder>", "a folder in the project it is started for; the current one when absent")
    .addOption(stateOption())
    .addOption(jsonOption())
    .action(async (options: UpCommandOptions) => {
      const { upCommand } = await import("../commands/up.ts");
      await upCommand(await host(), options);
    });
  program
    .command("down")
    .description("stop the daemon; what is under way goes on at the next start")
    .addOption(graceOption())
    .option("--force", "kill it, for one that hangs; nothing that was acknowledged is lost")
    .addOption(stateOption())
    .addOption(jsonOption())
    .action(async (options: DownOptions) => {
      const { downCommand } = await import("../commands/down.ts");
      await downCommand(await host(), options);
    });
  program
    .command("status")
    .description("say whether a daemon runs, and what there is to do")
    .addOption(stateOption())
    .addOption(jsonOption())
    .action(async (options: StatusOptions) => {
      const { statusCommand } = await import("../commands/status.ts");
      await statusCommand(await host(), options);
    });
  addPause(program, host);
  addKeys(program, host);
  program
    .command("operators")
    .description("list who has joined to gate tasks, to answer and to do work")
    .addOption(stateOption())
    .addOption(jsonOption())
    .action(async (options: OperatorsOptions) => {
      const { operatorsCommand } = await import("../commands/operators.ts");
      await operatorsCommand(await host(), options);
    });
}

function addPause(program: Command, host: () => Promise<Host>): void {
  program
    .command("pause")
    .description("begin no new work until resume, over restarts too; steps under way finish")
    .addOption(stateOption())
    .addOption(jsonOption())
    .action(async (options: PauseOptions) => {
      const { pauseCommand } = await import("../commands/pause.ts");
      await pauseCommand(await host(), options);
    });
  program
    .command("resume")
    .description("go on after a pause")
    .addOption(stateOption())
    .addOption(jsonOption())
    .action(async (options: PauseOptions) => {
      const { resumeCommand } = await import("../commands/pause.ts");
      await resumeCommand(await host(), options);
    });
}

function addKeys(program: Command, host: () => Promise<Host>): void {
  const keys = program.command("keys").description("the keys that open the daemon");
  keys
    .command("list")
    .description("list the keys, revoked ones too; never the keys themselves")
    .addOption(stateOption())
    .addOption(jsonOption())
    .action(async (options: KeysOptions) => {
      const { listKeys } = await import("../commands/keys.ts");
      await listKeys(await host(), options);
    });
  keys
    .command("add")
    .argument("<name>", "what it is for")
    .description("make a key and print it, this once")
    .addOption(
      new Option("--role <role>", "viewer looks; operator also works and joins; admin also has keys and shutdown")
        .choices(roles)
        .makeOptionMandatory(),
    )
    .addOption(stateOption())
    .addOption(jsonOption())
    .action(async (name: string, options: KeysOptions & { readonly role: KeyRole }) => {
      const { addKey } = await import("../commands/keys.ts");
      await addKey(await host(), name, options);
    });
  keys
    .command("revoke")
    .argument("<id>", "its id")
    .description("revoke a key, from now on")
    .addOption(stateOption())
    .addOption(jsonOption())
    .action(async (id: string, options: KeysOptions) => {
      const { revokeKey } = await import("../commands/keys.ts");
      await revokeKey(await host(), id, options);
    });
}
