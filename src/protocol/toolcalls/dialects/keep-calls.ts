// Records calls in a model's own dialect: those of tools that are offered, and why the others do not run.
import { addDialectCall, addFault, addViolation, type Findings, pushViolation } from "../findings.ts";
import type { CallRules } from "../read-call.ts";
import type { ModelDialect } from "../tool-call.ts";
import type { DialectCall } from "./dialect-reading.ts";

export function keepDialectCalls(
  findings: Findings,
  { dialect, calls }: { readonly dialect: ModelDialect; readonly calls: readonly DialectCall[] },
  { tools }: CallRules,
): void {
  findings.complete = true;
  const message = `A call came in the ${dialect} dialect; calls belong in a \`\`\`tool fence.`;
  pushViolation(findings, { kind: "dialect_call", message, dialect });
  for (const { name, args } of calls) {
    if (tools === undefined || tools.has(name)) addDialectCall(findings, name, args);
    else noteUnregistered(name, findings);
  }
}

export function addDialectFault(
  findings: Findings,
  fault: { readonly dialect: ModelDialect; readonly at: number; readonly lineAt: number; readonly detail: string },
): void {
  findings.dialectBroken = true;
  const { dialect, at, lineAt, detail } = fault;
  addFault(findings, { code: "broken_dialect_call", at, lineAt, detail: `in the ${dialect} dialect, ${detail}` });
}

export function noteUnregistered(name: string | undefined, findings: Findings): void {
  const shown = (name ?? "").slice(0, 60);
  const message = `What looks like a call of \`${shown}\` did not run: there is no tool of that name.`;
  addViolation(findings, "unregistered_call", message);
}
