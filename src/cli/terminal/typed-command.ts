// Shows commands as the person types them here: `tutti` where it is installed, `bin/tutti.js` in a clone.
import { basename, isAbsolute, relative } from "node:path";

import { shellWord } from "../../protocol/shell-word.ts";

interface HowStarted {
  /** The file that Node was told to run. */
  readonly script: string;
  readonly folder: string;
  /** Whether this is a clone and no installed package. */
  readonly fromSource: boolean;
  /** What a wrapper says that people type, in TUTTI_COMMAND. */
  readonly given: string;
}

/** @internal Exported for its tests only. */
export function typedCommand({ script, folder, fromSource, given }: HowStarted): string {
  if (given.trim() !== "") return given.trim();
  // A link named `tutti` is found on the PATH.
  if (!fromSource || basename(script) !== "tutti.js") return "tutti";
  const inside = relative(folder, script);
  if (inside.startsWith("..") || isAbsolute(inside)) return shellWord(script);
  return shellWord(inside.includes("/") ? inside : `./${inside}`);
}

let known: string | undefined;

export function ownCommand(): string {
  known ??= typedCommand({
    script: process.argv[1] ?? "",
    folder: process.cwd(),
    fromSource: import.meta.filename.endsWith(".ts"),
    given: process.env["TUTTI_COMMAND"] ?? "",
  });
  return known;
}

/** Commands stand in backticks, or begin a line. */
const commands = /(?<=`)tutti(?=[ `])|(?<=^ *(?:\$ |Usage: )?)tutti(?= [a-z[<-])/gm;

export function asTyped(text: string, command = ownCommand()): string {
  return command === "tutti" ? text : text.replaceAll(commands, () => command);
}
