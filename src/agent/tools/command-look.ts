// What a person reads who is asked about a program: the whole command, where it runs, and what keeps it from doing harm.

import type { Rights } from "../../core/rights.ts";
import { inLine, quoted, quotedCommand } from "../../core/foreign-words.ts";
import { protectedReason } from "../../core/protected-path.ts";
import { type AllowedCalls, anyWords } from "../../protocol/invocation/standing-approval.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { CallLook } from "./call-look.ts";
import type { Command, CommandPlace, Commands } from "./run.ts";

export async function lookAtCommand(commands: Commands, command: Command, rights: Rights): Promise<CallLook> {
  let place: CommandPlace;
  try {
    place = await commands.place(command, rights);
  } catch (thrown) {
    if (!(thrown instanceof TuttiError)) throw thrown;
    const text = `${commandText(command)}\nthe call will fail: ${inLine(thrown.message)}`;
    return { protected: [], text, calls: null };
  }
  const { network, stdin, timeoutMs } = command;
  const { program } = place;
  const lines = [
    commandText(command),
    ...programLines(program),
    `folder: ${inLine(place.cwd)}`,
    reachText(commands, command, { place, rights }),
    `network: ${network ? "yes" : "no"}`,
    `environment: ${inLine(place.environment.join(", "))}`,
    `ended after: ${timeoutMs / 1_000} seconds`,
    ...(stdin === "" ? [] : ["input:", quoted(stdin)]),
  ];
  const shown = program === undefined ? {} : { program: program.path };
  const calls = callsLike(commands, command, place);
  return { protected: [], text: lines.join("\n"), cwd: place.cwd, ...shown, calls };
}

/** The name in the command can be that of several files, one of which the model may have written. */
function programLines(program: CommandPlace["program"]): string[] {
  if (program === undefined) return [];
  return [
    `program: ${inLine(program.path)}${program.isOfTask ? ", A FILE OF THE TASK'S FOLDERS, which agents can write" : ""}`,
  ];
}

/**
 * Null where a person must decide each time: a script for the shell is text and no command, input can be a script, and an
 * unconfined program must not be code that a model could have written.
 */
function callsLike({ confined }: Commands, command: Command, { foreignProgram }: CommandPlace): AllowedCalls | null {
  const { argv, stdin, network, mayChangeProtected } = command;
  if (isShellScript(command) || stdin !== "" || mayChangeProtected || argv.includes(anyWords)) return null;
  const calls = { tool: "run", argv: [...argv] as [string, ...string[]], network };
  if (confined) return { ...calls, unconfined: false };
  return foreignProgram === undefined ? null : { ...calls, unconfined: true, program: foreignProgram };
}

function isShellScript({ argv: [program, option, , ...rest] }: Command): boolean {
  return program === "/bin/sh" && option === "-c" && rest.length === 0;
}

/** Never shortened: any part of a command can be the one that matters. */
function commandText(command: Command): string {
  const { argv } = command;
  const [, , script] = argv;
  if (isShellScript(command) && script !== undefined) {
    return `script for /bin/sh:\n${quoted(script)}`;
  }
  return `command:\n${quotedCommand(argv)}`;
}

function reachText(
  { confined }: Commands,
  { mayChangeProtected }: Command,
  { place, rights }: { readonly place: CommandPlace; readonly rights: Rights },
): string {
  if (!confined) {
    return "confined: no; nothing prevents it from changing any file of this user, protected files such as .git and tutti.config.* included";
  }
  const folders = `confined: it can change only ${inLine(rights.roots.join(", "))}`;
  if (!mayChangeProtected) return `${folders}; protected files are read-only`;
  const files = place.protectedFiles.map((path) => `  | ${inLine(path)} (${protectedReason(path)})`);
  return [`${folders}, including protected files (about new ones you are asked when it has ended):`, ...files].join(
    "\n",
  );
}
