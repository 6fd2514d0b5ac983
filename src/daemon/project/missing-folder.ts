// The error of work in a folder that is not on this machine: where there are several machines, another one may have it.

import { TuttiError } from "../../protocol/error.ts";

export function noFolder(folder: string): TuttiError {
  return new TuttiError("not_found", `there is no folder ${folder}`, { details: { missing_folder: folder } });
}

/** The folder that is missing, also when another node said so. */
export function missingFolder(thrown: unknown): string | undefined {
  if (!(thrown instanceof TuttiError) || thrown.code !== "not_found") return undefined;
  const folder = thrown.details?.["missing_folder"];
  return typeof folder === "string" ? folder : undefined;
}
