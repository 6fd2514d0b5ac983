// Reads the options `--accept TEXT` and `--by COMMAND`: the criteria of a goal, each perhaps with the check that proves it.

import type { Command } from "commander";

import { TuttiError } from "../../protocol/error.ts";
import type { AcceptedCriterion } from "../../protocol/invocation/goal-file.ts";

/** Call it when all options of the command are declared. The function gives the criteria in the order in which they were typed. */
export function criteriaOf(command: Command): () => readonly AcceptedCriterion[] {
  const criteria: AcceptedCriterion[] = [];
  let before = "";
  const take = (name: string, value: string): void => {
    if (name === "accept") criteria.push(value);
    if (name !== "by") return;
    const text = before === "accept" ? criteria.pop() : undefined;
    if (typeof text !== "string") {
      throw new TuttiError("usage", `--by ${value} must stand directly behind the --accept that it proves`);
    }
    criteria.push({ text, by: value });
  };
  for (const option of command.options) {
    const name = option.name();
    command.on(`option:${name}`, (value: string) => {
      take(name, value);
      before = name;
    });
  }
  return () => criteria;
}
