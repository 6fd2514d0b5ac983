// Marks the root of a tree that a program starts, with what a person must agree to first.

import { existsSync, realpathSync } from "node:fs";

import { wishesOfGoal, wishesOfInvocation, wishesOfPlace } from "../../core/program-wishes.ts";
import type { ByProgram, ProgramCaller, ProgramWish } from "../../protocol/invocation/by-program.ts";
import type { GoalRequest } from "../../protocol/invocation/goal-file.ts";
import type { InvocationFile } from "../../protocol/invocation/invocation-file.ts";
import { readConfigFiles } from "../project/config-files.ts";

/** `isAgreed`: the runtime of the project may be used as it is. */
interface MarkedPlace {
  readonly project: string;
  readonly roots: readonly string[];
  readonly isAgreed: boolean;
}

type Asked =
  | { readonly file: Pick<InvocationFile, "invocation" | "agents"> }
  | { readonly goal: { readonly policy?: string | undefined } & Pick<GoalRequest, "checks" | "model"> };

/** To be spread into the config of a root. Empty for a person's work. */
export function programMark(
  program: ProgramCaller | undefined,
  asked: Asked,
  { project, roots, isAgreed }: MarkedPlace,
): { readonly by_program?: ByProgram } {
  if (program === undefined) return {};
  const folders = program.folders.map(realFolder);
  const place = {
    project: realFolder(project),
    roots: roots.map(realFolder),
    isTrusted: isAgreed && readConfigFiles(project) !== undefined,
  };
  const own = "file" in asked ? wishesOfInvocation(asked.file, program) : wishesOfGoal(asked.goal, program);
  return markWith(program, [...own, ...wishesOfPlace(place, { ...program, folders })]);
}

/** For what starts no agents itself, such as a schedule: what it starts later is marked then. */
export function plainMark(program: ProgramCaller | undefined): { readonly by_program?: ByProgram } {
  return program === undefined ? {} : markWith(program, []);
}

function markWith(
  { key, over, may, folders }: ProgramCaller,
  wants: ProgramWish[],
): { readonly by_program: ByProgram } {
  return { by_program: { key, over, may, folders, wants } };
}

/** A link inside of an open folder may lead out of it. */
function realFolder(folder: string): string {
  return existsSync(folder) ? realpathSync(folder) : folder;
}
