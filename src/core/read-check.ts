// Reads a check as the exact arguments of a program: a line is split by its quotes, and no shell ever reads it.

import { TuttiError } from "../protocol/error.ts";
import type { Check } from "../protocol/decision/decision.ts";
import { commandWords } from "./command-words.ts";

/** Outside of quotes, these would make a shell do something that a program without a shell cannot do. */
const operators = /&&|\|\||[|&;<>`\n\r]|\$\(/;

/** Throws `invalid_input` for a line that only a shell could run, because a part of it would silently not be checked. */
export function readCheck(check: Check): [string, ...string[]] {
  const words = typeof check === "string" ? lineWords(check) : check.run;
  const [program, ...args] = words;
  if (program === undefined || program.trim() === "")
    throw refused(check, "it names no program; write a command such as npm test");
  if (words.some((word) => word.includes("\0"))) throw refused(check, "it holds a NUL character");
  return [program, ...args];
}

function lineWords(line: string): string[] {
  const bare = line.replaceAll(/'[^']*'|"[^"]*"/g, "");
  const [operator] = operators.exec(bare.trim()) ?? [];
  if (operator !== undefined) {
    const why = `${JSON.stringify(operator)} needs a shell, and no shell reads a check`;
    throw refused(
      line,
      `${why}; write several checks, name a script, or write sh -c "…" (as arguments: ["sh", "-c", "…"])`,
    );
  }
  const [first = ""] = bare.trim().split(/\s/, 1);
  if (/^[A-Za-z_]\w*=/.test(first)) throw refused(line, "a variable is set before the program; put `env` before it");
  return commandWords(line);
}

function refused(check: Check, why: string): TuttiError {
  return new TuttiError("invalid_input", `the check ${JSON.stringify(check).slice(0, 200)} cannot be run: ${why}`);
}

/** Undefined when no program could be run, which running the check would say with its reason. */
export function argvOfCheck(check: Check): readonly string[] | undefined {
  try {
    return readCheck(check);
  } catch {
    return undefined;
  }
}

/** Whether both run the same program with the same arguments, however they are written. */
export function isSameCheck(one: Check, other: Check): boolean {
  return JSON.stringify(argvOfCheck(one) ?? one) === JSON.stringify(argvOfCheck(other) ?? other);
}
