// Decides whether a standing approval covers a call, and says in words what it covers.

import { argvLine } from "../protocol/argv-line.ts";
import { type AllowedCalls, anyWords, type CommandPattern } from "../protocol/invocation/standing-approval.ts";
import { inLine } from "./foreign-words.ts";

/** `call` describes one call in the same form, with its exact command. */
export function covers(allowed: AllowedCalls, call: AllowedCalls): boolean {
  if (allowed.tool !== call.tool || (call.network && !allowed.network)) return false;
  // A name such as `git` can stand for another file tomorrow, and nothing holds an unconfined program back.
  if (call.unconfined && !(allowed.unconfined && allowed.program === call.program)) return false;
  if (allowed.argv === undefined || call.argv === undefined) return allowed.argv === call.argv;
  return fits(allowed.argv, call.argv);
}

/** Element by element: text is never split or joined, so nothing inside an element can pass for more elements. */
export function fits(pattern: CommandPattern, argv: readonly string[]): boolean {
  // The places of the pattern that may come next. `*` stays possible after it has matched an element.
  let places = new Set([0]);
  for (const word of argv) {
    const next = new Set<number>();
    for (const place of places) {
      if (pattern[place] === anyWords && !isOption(word)) next.add(place + 1);
      if (pattern[place] !== anyWords && pattern[place] === word) next.add(place + 1);
      if (place > 0 && pattern[place - 1] === anyWords && !isOption(word)) next.add(place);
    }
    places = next;
  }
  return places.has(pattern.length);
}

function isOption(word: string): boolean {
  return word.startsWith("-");
}

/** As a person reads it before it is written, and in every list. */
export function allowedText({ tool, argv, unconfined, network, program }: AllowedCalls): string {
  const what =
    argv === undefined
      ? `every call of ${inLine(tool)}, whatever its arguments`
      : `the command ${argvLine(argv, { placeholder: anyWords })}`;
  const file = program === undefined ? "" : `, which is ${inLine(program)}`;
  const reach = unconfined ? "also unconfined" : "confined to the task's folders";
  return `${what}${file}; ${reach}, ${network ? "with" : "without"} the network`;
}
