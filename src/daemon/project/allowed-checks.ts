// Keeps which checks people have allowed for a goal, with who and when, in the document `allowed-checks.json`.

import { z } from "zod";

import { parseJson } from "../../protocol/json/parse-json.ts";
import type { AllowedChecks } from "../../runner/assignment/ask-about-work.ts";
import { documentsOf } from "../documents/documents-of.ts";

const AllowedCheck = z.strictObject({
  argv: z.array(z.string()),
  at: z.number().optional(),
  by: z.string().optional(),
});
type AllowedCheck = z.infer<typeof AllowedCheck>;
/** One that is only a list of words was allowed before it was kept who allowed it. */
const KeptCheck = z.union([AllowedCheck, z.array(z.string()).transform((argv): AllowedCheck => ({ argv }))]);
/** The goal that was allowed something last stands last. */
export const AllowedFile = z.array(z.strictObject({ goal: z.string(), checks: z.array(KeptCheck) }));
export type AllowedFile = z.output<typeof AllowedFile>;

const document = "allowed-checks.json";

/** Of goals before the last so many, people are asked again. */
const mostGoals = 200;
/** In characters. Models name checks, so that they may be long; of goals that do not fit, people are asked again. */
const longest = 500_000;

/** The document is read when it is needed: a project is loaded also by commands that must not touch the state folder. */
export function keptAllowedChecks(state: string): AllowedChecks {
  return {
    has(goal, argv) {
      const found = read(() => documentsOf(state).read(document)).find((each) => each.goal === goal);
      return found?.checks.some(isSame(argv)) ?? false;
    },
    add: (goal, argv, by) =>
      documentsOf(state).change(document, (text) => {
        const all = read(() => text);
        const before = all.find((each) => each.goal === goal)?.checks ?? [];
        if (before.some(isSame(argv))) return { result: undefined };
        const others = all.filter((each) => each.goal !== goal);
        const added = { goal, checks: [...before, { argv: [...argv], at: Date.now(), by }] };
        return { after: writtenChecks([...others, added]), result: undefined };
      }),
  };
}

/** Without the oldest goals, where all of them would be too many or too long. */
export function writtenChecks(all: AllowedFile): string {
  const lines: string[] = [];
  let length = 0;
  for (const each of all.slice(-mostGoals).toReversed()) {
    const line = JSON.stringify(each);
    length += line.length;
    if (length > longest) break;
    lines.unshift(line);
  }
  return `[${lines.join(",\n")}]\n`;
}

function isSame(argv: readonly string[]): (each: { readonly argv: readonly string[] }) => boolean {
  const text = JSON.stringify(argv);
  return (each) => JSON.stringify(each.argv) === text;
}

/** What cannot be read allows nothing, so a person is asked again. */
function read(text: () => string | undefined): AllowedFile {
  try {
    return AllowedFile.parse(parseJson(text() ?? "[]"));
  } catch {
    return [];
  }
}
