// `tutti route`: says which model a policy gives a handoff to, and why.
import { TuttiError } from "../../protocol/error.ts";
import { defaultPolicy } from "../../protocol/routing/default-policy.ts";
import type { Policy } from "../../protocol/routing/policy.ts";
import { readHandoff } from "../../protocol/routing/read-handoff.ts";
import type { Read } from "../../protocol/routing/read-notes.ts";
import { readPolicy } from "../../protocol/routing/read-policy.ts";
import { route, type RouteDecision } from "../../protocol/routing/route-handoff.ts";
import { type BatchRecord, runBatch } from "../batch.ts";
import { readText } from "../input.ts";
import type { InputOptions } from "../options.ts";
import { warn } from "../terminal/output.ts";
import { writeJson, writeLine } from "../terminal/screen.ts";
import { bold, dim } from "../terminal/style.ts";

export interface RouteOptions extends InputOptions {
  readonly policy?: string;
}

export async function routeCommand(file: string | undefined, options: RouteOptions): Promise<void> {
  const { limit } = options;
  const policy =
    options.policy === undefined ? defaultPolicy : unwrap(readPolicy(await readText(options.policy, limit)));
  if (options.jsonl === true) {
    await runBatch((record) => ({ ...routeRecord(record, policy) }), { file, limit });
    return;
  }
  const decision = decide(policy, await readText(file, limit));
  await (options.json === true ? writeJson(decision) : writeLine(show(decision), { hang: 12 }));
}

/** A record may have a policy of its own. */
function routeRecord(record: BatchRecord, policy: Policy): RouteDecision {
  if (record["handoff"] === undefined) throw new TuttiError("invalid_input", "`handoff` is missing");
  const own = record["policy"] ?? undefined;
  return decide(own === undefined ? policy : unwrap(readPolicy(own)), record["handoff"]);
}

function decide(policy: Policy, handoff: unknown): RouteDecision {
  const routed = route(policy, unwrap(readHandoff(handoff)));
  if (!routed.ok) throw new TuttiError("invalid_input", routed.error.message, { details: { ...routed.error } });
  return routed.value;
}

function unwrap<T>(read: Read<T>): T {
  for (const warning of read.warnings) warn(warning);
  if (!read.ok) throw read.error;
  return read.value;
}

function show({ model, reason, matched_by, words, fallback_models: next = [] }: RouteDecision): string {
  const why = words.length === 0 ? matched_by : `${matched_by} (${words.join(", ")})`;
  return [
    `${dim("model")}       ${bold(model)}`,
    `${dim("reason")}      ${reason}`,
    `${dim("matched by")}  ${why}`,
    ...(next.length === 0 ? [] : [`${dim("if it fails")} ${next.join(", then ")}`]),
  ].join("\n");
}
