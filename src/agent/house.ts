// What a house offers its agents: the tools there are, and where a loop can run.

import type { AvailableRunner } from "../core/executor.ts";
import { type ApprovalPolicy, defaultApprovalPolicy } from "../protocol/approval-policy.ts";
import type { Tool } from "./tool.ts";
import { ask } from "./tools/ask.ts";
import { echo } from "./tools/echo.ts";
import { edit } from "./tools/edit.ts";
import { read } from "./tools/read.ts";
import { readResult } from "./tools/read-result.ts";
import { list, search } from "./tools/search.ts";
import { sleep } from "./tools/sleep.ts";
import { supervisorTools } from "./tools/supervise.ts";
import { write, writeFile } from "./tools/write.ts";

export interface House {
  readonly tools: readonly Tool[];
  /** Runners of other kinds than `local`, in order of preference. */
  readonly runners: readonly AvailableRunner[];
  /** Runtimes the local loop gives an agent. */
  readonly runtimes: readonly string[];
  /** Which calls run, which are asked about, which are refused. */
  readonly approvals: ApprovalPolicy;
}

export const builtinTools: readonly Tool[] = [
  read,
  write,
  edit,
  list,
  search,
  readResult,
  echo,
  writeFile,
  sleep,
  ask,
  ...supervisorTools,
];

export function houseOf(parts: Partial<House> = {}): House {
  return {
    tools: parts.tools ?? builtinTools,
    runners: parts.runners ?? [],
    runtimes: parts.runtimes ?? ["local"],
    approvals: parts.approvals ?? defaultApprovalPolicy,
  };
}
