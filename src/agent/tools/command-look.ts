// What a person reads who is asked about a program: the whole command, where it runs, and what keeps it from doing harm.

import type { Rights } from "../../core/rights.ts";
import { escapeInvisible } from "../../core/escape-invisible.ts";
import { TuttiError } from "../../protocol/error.ts";
import { type CallLook, quoted } from "./call-look.ts";
import type { Command, CommandPlace, Commands } from "./run.ts";

export async function lookAtCommand(commands: Commands, command: Command, rights: Rights): Promise<CallLook> {
  let place: CommandPlace;
  try {
    place = await commands.place(command, rights);
  } catch (thrown) {
    if (!(thrown instanceof TuttiError)) throw thrown;
    const text = `${commandText(command)}\nthe call will fail: ${escapeInvisible(thrown.message)}`;
    return { protected: [], text };
  }
  const { network, stdin, timeoutMs } = command;
  const lines = [
    commandText(command),
    `folder: ${escapeInvisible(place.cwd)}`,
    reachText(commands, command, { place, rights }),
    `network: ${network ? "yes" : "no"}`,
    `environment: ${escapeInvisible(place.environment.join(", "))}`,
    `ended after: ${timeoutMs / 1_000} seconds`,
    ...(stdin === "" ? [] : ["input:", quoted(stdin)]),
  ];
  return { protected: [], text: lines.join("\n"), cwd: place.cwd };
}

/** Never shortened: any part of a command can be the one that matters. */
function commandText({ argv }: Command): string {
  const [program, option, script] = argv;
  if (program === "/bin/sh" && option === "-c" && script !== undefined && argv.length === 3) {
    return `script for /bin/sh:\n${quoted(script)}`;
  }
  return `command:\n${quoted(argv.map(shellWord).join(" "))}`;
}

/** As one would type it, so that spaces and quotes in an argument cannot be mistaken for the next argument. */
function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

function reachText(
  { confined }: Commands,
  { mayChangeProtected }: Command,
  { place, rights }: { readonly place: CommandPlace; readonly rights: Rights },
): string {
  if (!confined) {
    return "confined: no; nothing prevents it from changing any file of this user, protected files such as .git and tutti.config.* included";
  }
  const folders = `confined: it can change only ${escapeInvisible(rights.roots.join(", "))}`;
  if (!mayChangeProtected) return `${folders}; protected files are read-only`;
  const files = place.protectedFiles.map((path) => `  | ${escapeInvisible(path)}`);
  return [`${folders}, including protected files:`, ...files].join("\n");
}
