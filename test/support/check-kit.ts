// Runs checks of a test repository as a verification does: in a real sandbox, on real checkouts.

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";

import type { StepContext } from "../../src/ports.ts";
import type { CheckFact } from "../../src/protocol/task/evidence.ts";
import { checkPrograms } from "../../src/runner/shared/sandbox/check-programs.ts";
import { probeSandbox } from "../../src/runner/shared/sandbox/sandbox-status.ts";
import { type ChecksRequest, openBaseCache, runChecks, type WantedCheck } from "../../src/verification/index.ts";
import type { TestRepository } from "./git-kit.ts";
import { type Cleanup, tempFolder } from "./temp-folder.ts";

const sandbox = await probeSandbox();

/** For tests that need the sandbox. */
export const skipUnconfined = sandbox.confined ? false : sandbox.reason;

export interface CheckKit {
  /** Plays the state folder, which no check may see. */
  readonly state: string;
  /** Checks HEAD against the commit before the session's, unless told otherwise. Each check is named by a person. */
  readonly check: (
    checks: readonly (WantedCheck["check"] | WantedCheck)[],
    more?: Partial<ChecksRequest>,
  ) => Promise<CheckFact[]>;
}

export function checkKit(t: Cleanup, repository: TestRepository): CheckKit {
  const state = tempFolder(t, "tutti-state-");
  const folder = join(tempFolder(t, "tutti-checks-"), "checks");
  const base = repository.git("rev-parse", "HEAD");
  const signal = AbortSignal.timeout(240_000);
  const step: StepContext = {
    signal,
    // Processes are found and ended by it, and tests run side by side.
    key: `tsk_${crypto.randomUUID()}/1.1/verify`,
    noted: undefined,
    note: async () => undefined,
    live: () => undefined,
    now: () => 0,
  };
  const cache = openBaseCache(join(state, "checks"));
  return {
    state,
    check: async (checks, more = {}) => {
      const { facts } = await runChecks({
        gitDir: join(repository.folder, ".git"),
        commit: repository.git("rev-parse", "HEAD"),
        base,
        checks: checks.map((check) =>
          typeof check === "object" && "named_by" in check ? check : { check, named_by: "person" },
        ),
        folder,
        runProgram: checkPrograms({ sandbox, hidden: [state], toolchains: [] }, step),
        cache,
        signal,
        ...more,
      });
      assert.deepEqual(readdirSync(folder), [], "no checkout is left");
      return [...facts];
    },
  };
}
