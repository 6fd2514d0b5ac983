// What can be typed after `tutti`, taken from the declared commands: subcommands, options, and what values they take.
import type { Argument, Command, Option } from "commander";

/** Names that must be looked up: they are asked for with `tutti __complete`. */
export const lookedUp = ["tasks", "goals", "asks", "agents", "contexts", "providers"] as const;
export type LookedUp = (typeof lookedUp)[number];

export type Values = LookedUp | "files" | "folders" | "anything" | { readonly words: readonly string[] };

export interface OptionEntry {
  readonly flags: readonly string[];
  readonly about: string;
  /** Undefined when the option takes no value. */
  readonly value: Values | undefined;
}

export interface CommandEntry {
  /** Without `tutti`, such as `agents run`; empty for `tutti` itself. */
  readonly path: string;
  readonly commands: readonly { readonly name: string; readonly about: string }[];
  readonly options: readonly OptionEntry[];
  /** By their place. */
  readonly arguments: readonly Values[];
}

export function completionTable(program: Command): CommandEntry[] {
  return entriesOf(program, "");
}

function entriesOf(command: Command, path: string): CommandEntry[] {
  const help = command.createHelp();
  const commands = help.visibleCommands(command);
  const own: CommandEntry = {
    path,
    commands: commands.map((each) => ({ name: each.name(), about: each.description() })),
    options: help.visibleOptions(command).map(optionEntry),
    arguments: command.registeredArguments.map((argument) => argumentValues(path, argument)),
  };
  const below = commands.filter((each) => each.name() !== "help");
  return [own, ...below.flatMap((each) => entriesOf(each, path === "" ? each.name() : `${path} ${each.name()}`))];
}

function optionEntry({ short, long, description, required, optional, argChoices, flags }: Option): OptionEntry {
  const takesValue = required || optional;
  const value = argChoices === undefined ? optionValues(flags) : { words: argChoices };
  return {
    flags: [short, long].filter((each) => each !== undefined),
    about: description,
    value: takesValue ? value : undefined,
  };
}

/** By the placeholder in the flags, such as `<folder>`. */
function optionValues(flags: string): Values {
  if (flags.startsWith("--context ")) return "contexts";
  if (flags.endsWith("<folder>")) return "folders";
  return flags.endsWith("<file>") ? "files" : "anything";
}

const byArgument: Readonly<Record<string, Values>> = {
  task: "tasks",
  ask: "asks",
  provider: "providers",
  folder: "folders",
  file: "files",
  handoff: "files",
  review: "files",
};

const byCommand: Readonly<Record<string, Values>> = {
  "agents run": "agents",
  "agents show": "agents",
  "context use": "contexts",
  "context remove": "contexts",
};

function argumentValues(path: string, argument: Argument): Values {
  if (argument.argChoices !== undefined) return { words: argument.argChoices };
  const name = argument.name();
  if (name === "goal") return path === "run" ? "anything" : "goals";
  if (name === "name") return byCommand[path] ?? "anything";
  return byArgument[name] ?? "anything";
}
