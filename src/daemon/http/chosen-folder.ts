// Whether a caller may choose the folder of a project: reading a project may execute its config, which is more than looking.

import { isAbsolute } from "node:path";

import { TuttiError } from "../../protocol/error.ts";
import type { Caller } from "./authorize.ts";

export function mayChooseFolder(folder: string | undefined, caller: Caller): void {
  if (folder === undefined) return;
  if (!isAbsolute(folder)) {
    throw new TuttiError("invalid_input", `the folder must be an absolute path, not ${folder}`);
  }
  mustBeOperator(caller, "choose a folder");
}

export function mustBeOperator(caller: Caller, what: string): void {
  if (caller.kind === "key" && caller.role !== "viewer") return;
  throw new TuttiError("refused", `a viewer may not ${what}; use a key with the role operator`);
}
