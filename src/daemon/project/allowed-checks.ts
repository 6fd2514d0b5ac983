// Keeps which checks of models people have allowed for a goal, in `allowed-checks.json` of the state folder.

import { join } from "node:path";

import { z } from "zod";

import { readPrivateFile, replacePrivateFile } from "../../files/private-file.ts";
import { parseJson } from "../../protocol/json/parse-json.ts";
import type { AllowedChecks } from "../../runner/assignment/ask-about-work.ts";

/** The goal that was allowed something last stands last. */
const AllowedFile = z.array(z.strictObject({ goal: z.string(), checks: z.array(z.array(z.string())) }));
type AllowedFile = z.infer<typeof AllowedFile>;

/** Of goals before the last so many, people are asked again. */
const mostGoals = 200;

/** The file is read when it is needed: a project is loaded also by commands that must not touch the state folder. */
export function keptAllowedChecks(state: string): AllowedChecks {
  const path = join(state, "allowed-checks.json");
  const isSame = (argv: readonly string[]) => {
    const text = JSON.stringify(argv);
    return (each: readonly string[]): boolean => JSON.stringify(each) === text;
  };
  return {
    has(goal, argv) {
      const found = read(path).find((each) => each.goal === goal);
      return found?.checks.some(isSame(argv)) ?? false;
    },
    add(goal, argv) {
      const all = read(path);
      const before = all.find((each) => each.goal === goal)?.checks ?? [];
      if (before.some(isSame(argv))) return;
      const others = all.filter((each) => each.goal !== goal).slice(1 - mostGoals);
      replacePrivateFile(path, `${JSON.stringify([...others, { goal, checks: [...before, [...argv]] }])}\n`);
    },
  };
}

/** A file that cannot be read allows nothing, so a person is asked again. */
function read(path: string): AllowedFile {
  try {
    return AllowedFile.parse(parseJson(readPrivateFile(path) ?? "[]"));
  } catch {
    return [];
  }
}
