// The labels and keys of waits on an operator.

import type { OperatorRequest } from "./operator-request.ts";

const prefix = "operator.";

export function operatorLabel(kind: OperatorRequest["kind"]): string {
  return `${prefix}${kind}`;
}

/** True for a wait that only an operator or its worker may settle. */
export function isOperatorLabel(label: string): boolean {
  return label.startsWith(prefix);
}

/** The keys of the waits, the same in every attempt. */
export const operatorKeys = { hook_before: "gate.before", spawn: "spawn", result: "result" } as const satisfies Record<
  OperatorRequest["kind"],
  string
>;
