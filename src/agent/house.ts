// What a house offers its agents: the tools there are, and where a loop can run.

import type { AvailableRunner } from "../core/executor.ts";
import type { Tool } from "./tool.ts";
import { ask } from "./tools/ask.ts";
import { echo } from "./tools/echo.ts";
import { sleep } from "./tools/sleep.ts";
import { supervisorTools } from "./tools/supervise.ts";
import { writeFile } from "./tools/write-file.ts";

export interface House {
  readonly tools: readonly Tool[];
  /** Runners of other kinds than `local`, in order of preference. */
  readonly runners: readonly AvailableRunner[];
  /** Runtimes the local loop gives an agent. */
  readonly runtimes: readonly string[];
}

export const builtinTools: readonly Tool[] = [echo, writeFile, sleep, ask, ...supervisorTools];

export function houseOf(parts: Partial<House> = {}): House {
  return { tools: parts.tools ?? builtinTools, runners: parts.runners ?? [], runtimes: parts.runtimes ?? ["local"] };
}
