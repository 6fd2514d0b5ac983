// What a spawn_ack means for its attempt, given whether the worker has posted a result by then.
import type { SpawnAnswer } from "./operator-request.ts";

export type SpawnVerdict =
  /** `error`: the operator could not have the work done. Otherwise the work was done and did not succeed. */
  | { readonly outcome: "failed"; readonly reason: string; readonly value?: unknown; readonly error: boolean }
  /** The posted result is the result; the value of the ack is only information. */
  | { readonly outcome: "posted" }
  | { readonly outcome: "value"; readonly value: unknown }
  /** There is no result yet: the attempt waits for one until its lease ends. */
  | { readonly outcome: "waiting" };

export function spawnVerdict(ack: SpawnAnswer, { posted }: { readonly posted: boolean }): SpawnVerdict {
  const said = isNothing(ack.value) ? {} : { value: ack.value };
  if (ack.error !== undefined) return { outcome: "failed", reason: ack.error, error: true, ...said };
  if (!ack.ok) return { outcome: "failed", reason: reasonIn(ack.value), error: false, ...said };
  if (posted) return { outcome: "posted" };
  return isNothing(ack.value) ? { outcome: "waiting" } : { outcome: "value", value: ack.value };
}

function reasonIn(value: unknown): string {
  if (isNothing(value)) return "the operator acknowledged the spawn with ok: false";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Null and `{}` both mean that the worker posts the result itself. */
function isNothing(value: unknown): boolean {
  if (value === null || value === undefined) return true;
  return typeof value === "object" && !Array.isArray(value) && Object.keys(value).length === 0;
}
