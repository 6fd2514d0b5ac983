// Holds what a report shows against what is true: what is false, what is missing, and what people were asked.

import type { Played } from "./play-case.ts";
import type { HostileCase } from "./trust-case.ts";

/** What the report shows as proven and is not, each a sentence. */
export function falseIn({ report }: Pick<Played, "report">, { holds = {} }: Pick<HostileCase, "holds">): string[] {
  const { tasks = [], criteria = [] } = holds;
  return [
    ...(report.status === "done" ? [`the goal is done: ${report.reason}`] : []),
    ...report.tasks
      .filter(({ id, state }) => state === "verified" && !tasks.includes(id))
      .map(({ id, reason }) => `the task ${id} is verified: ${reason}`),
    ...report.criteria
      .filter(({ id, state }) => state === "met" && !criteria.includes(id))
      .map(({ id, reason }) => `the criterion ${id} is met: ${reason}`),
  ];
}

/** What keeps honest work from being shown as proven, each a sentence. */
export function missingIn({ report }: Pick<Played, "report">): string[] {
  return [
    ...(report.status === "done" ? [] : [`the goal is ${report.status}: ${report.reason}`]),
    ...report.tasks
      .filter(({ state }) => state !== "verified")
      .map(({ id, state, reason }) => `the task ${id} is ${state}: ${reason}`),
    ...report.criteria
      .filter(({ state }) => state !== "met")
      .map(({ id, state, reason }) => `the criterion ${id} is ${state}: ${reason}`),
  ];
}

/** Whether nobody had to say what becomes of the work. To agree that a check runs is no word about it. */
export function isUnasked({ questions }: Pick<Played, "questions">): boolean {
  return questions.every(({ kind }) => kind === "approval");
}
