// The arguments of a program as people read them: one line that a shell would read back as the same arguments, and what to notice in it.

import { hidesSomething, shellWord } from "./shell-word.ts";

/** As the first word, a shell would take these for its own. Quoted, they are names of programs. */
const shellsOwn = new Set(
  "case coproc do done elif else esac fi for function if in select then time until while".split(" "),
);

/** Every command that is shown is shown by this. `placeholder` is a word that stands for any others, shown as it is. */
export function argvLine(argv: readonly string[], { placeholder }: { readonly placeholder?: string } = {}): string {
  return argv
    .map((word, at) => {
      if (word === placeholder) return word;
      // A shell would set a variable, or begin a loop.
      if (at === 0 && (shellsOwn.has(word) || /^\w+\+?=/.test(word)) && shellWord(word) === word) return `'${word}'`;
      return shellWord(word);
    })
    .join(" ");
}

/** What would mean something to a shell: other commands, files, patterns, variables. */
const shellSigns = /[|&;<>`*?]|\$[\w({]|^~/;
const mostNamed = 3;
const longestNamed = 60;

/**
 * Sentences for where a person decides. Nothing reads the arguments but the program itself, which a reader who knows shells
 * may take otherwise.
 */
export function argvNotes(argv: readonly string[]): string[] {
  const [program = "", ...args] = argv;
  const signs = [...new Set(args.filter((word) => shellSigns.test(word)))];
  const notes: string[] = [];
  if (signs.length > 0) {
    const named = signs.slice(0, mostNamed).map(shortWord).join(", ");
    const more = signs.length > mostNamed ? ` and ${signs.length - mostNamed} more` : "";
    const isOne = signs.length === 1;
    notes.push(
      `note: Tutti starts this without a shell; ${named}${more} ${isOne ? "is an argument" : "are arguments"} of ${shortWord(program)}`,
    );
  }
  if (argv.some(hidesSomething))
    notes.push("note: the command holds characters that cannot be seen; in $'…' they are written as \\n or by number");
  return notes;
}

function shortWord(word: string): string {
  const shown = shellWord(word);
  return shown.length > longestNamed ? `${shown.slice(0, longestNamed - 1)}…` : shown;
}
