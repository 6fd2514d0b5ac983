// Verification: everything that other layers use of this one.

export { type BaseCache, openBaseCache } from "./base-cache.ts";
export type { CheckProgram, RunProgram } from "./check-program.ts";
export type { SetupStep } from "./fresh-checkout.ts";
export { type ChecksOutcome, type ChecksRequest, runChecks, type WantedCheck } from "./run-checks.ts";
