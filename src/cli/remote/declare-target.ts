// Gives every command that can work with a daemon elsewhere the options for it, and makes the others say that they cannot.
import { type Command, Option } from "commander";

import { argvLine } from "../../protocol/argv-line.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { Target, TargetOptions } from "./find-target.ts";

/** Commands that only use the API. */
const remoteCommands: ReadonlySet<string> = new Set([
  "agents list",
  "agents run",
  "agents show",
  "approvals list",
  "approvals revoke",
  "attach",
  "models",
  "runners",
  "transcript",
  "invoke",
  "asks",
  "answer",
  "message",
  "cancel",
  "chat",
  "retry",
  "schedules",
  "schedules remove",
  "sessions",
  "run",
  "goals",
  "goal",
  "report",
  "observe",
  "stop",
  "kill",
  "tasks",
  "threads",
  "threads show",
  "threads fork",
  "show",
  "logs",
  "export",
  "down",
  "status",
  "pause",
  "resume",
  "operators",
  "keys list",
  "keys add",
  "keys revoke",
  "doctor",
  "workspaces",
  "workspaces prune",
  "workspaces remove",
  "diff",
  "merge",
  "open",
]);

/** Commands that change a state folder of this machine or use a folder in it: they must not be taken for another's. */
const stateCommands: ReadonlySet<string> = new Set([
  "up",
  "prune",
  "trust",
  "init",
  "models add",
  "models login",
  "models logout",
  "pr",
]);

const group = "A daemon elsewhere:";
const urlOption = (): Option =>
  new Option("--url <url>", "its address, instead of the state folder of this machine (default: $TUTTI_URL)");
const contextOption = (): Option =>
  new Option("--context <name>", "its name, from `tutti context add`; `local` for this machine");

/** `name` is the command without `tutti`, such as `keys list`. */
export function declareTarget(command: Command, name: string): void {
  // The others of these only hold the commands below them.
  if (command.commands.length > 0 && !remoteCommands.has(name)) return;
  if (name.startsWith("context")) return;
  if (!remoteCommands.has(name)) {
    command.addOption(urlOption().hideHelp()).addOption(contextOption().hideHelp());
    return;
  }
  for (const option of [
    urlOption(),
    new Option("--key-file <file>", "the file that holds an API key for it (default: the key in $TUTTI_KEY)"),
    new Option("--key <key>", "the API key itself; other users of this machine may see it, so a file is better"),
    contextOption(),
    new Option("--insecure", "send the key to it without encryption"),
  ]) {
    command.addOption(option.helpGroup(group));
  }
}

/** The daemon elsewhere that the command is to work with; undefined when it works on this machine. */
export async function targetOf(command: Command, name: string): Promise<Target | undefined> {
  const options: TargetOptions = command.opts();
  if (remoteCommands.has(name)) {
    const { findTarget, sources } = await decision();
    return findTarget(options, sources);
  }
  if (name.startsWith("context")) return undefined;
  const { url, context, state } = options;
  if (url !== undefined || (context !== undefined && context !== "local")) {
    throw new TuttiError(
      "usage",
      `\`tutti ${name}\` works on this machine only; it cannot be used with a daemon elsewhere`,
    );
  }
  if (!stateCommands.has(name) || context === "local") return undefined;
  const { namedUrl, sources } = await decision();
  const elsewhere = namedUrl({ state }, sources);
  if (elsewhere === undefined) return undefined;
  const message = `\`tutti ${name}\` works on this machine only, but TUTTI_URL or the context in use names the daemon at ${elsewhere}; say --context local to work on this machine`;
  throw new TuttiError("usage", message);
}

/** Loaded when it is needed, so that help and commands without a daemon start fast. */
async function decision() {
  const [{ findTarget, namedUrl }, { readContexts }] = await Promise.all([
    import("./find-target.ts"),
    import("./contexts.ts"),
  ]);
  return { findTarget, namedUrl, sources: { env: process.env, contexts: readContexts } };
}

/** The options that named the daemon, to be repeated in commands that the person is told to type. Never a key. */
export function targetFlags(args: readonly string[]): string {
  const flags: string[] = [];
  for (let index = 0; index < args.length; index += 1) {
    const arg = args[index] ?? "";
    if (arg === "--insecure") flags.push(arg);
    const found = /^(--url|--context|--key-file)(?:=(.*))?$/s.exec(arg);
    if (found !== null) flags.push(found[1] ?? "", found[2] ?? args[index + 1] ?? "");
  }
  return flags.every((flag) => flag === "--insecure") ? "" : ` ${argvLine(flags)}`;
}
