// The text in a spawn frame that tells the model driving an operator what to do, word for word.
import { TuttiError } from "../error.ts";
import { isHandle } from "./handle.ts";
import type { AttemptLives } from "./lease.ts";
import { trimEndOf } from "../trim-end.ts";

export interface DirectiveFacts {
  readonly req_id: string;
  readonly task_id: string;
  readonly agent: string;
  readonly worker_handle: string;
  /** Where the worker reaches the daemon, http or https. */
  readonly base_url: string;
  readonly lives: AttemptLives;
}

/**
 * A model that holds a credential tends to use it itself, or to paste the prompt into the worker; so the text says
 * what to pass on and what to leave alone. Throws `invalid_input` rather than write a fact that would span lines.
 */
export function spawnDirective(facts: DirectiveFacts): string {
  const { req_id, task_id, agent, worker_handle, lives } = facts;
  for (const [name, value] of Object.entries({ req_id, task_id, agent })) requireOneLine(name, value);
  if (!isHandle(worker_handle)) throw new TuttiError("invalid_input", "worker_handle must be `wh-` and 32 hex digits");
  const baseUrl = requireBaseUrl(facts.base_url);
  const done = JSON.stringify({ type: "spawn_ack", req_id, value: {}, ok: true });
  const failed = JSON.stringify({ type: "spawn_ack", req_id, ok: false, error: "<what went wrong>" });
  return `Launch one worker, the agent ${JSON.stringify(agent)}, now. Its whole prompt is these four lines, unchanged:

agent_id: ${agent}
worker_handle: ${worker_handle}
base_url: ${baseUrl}
task_id: ${task_id}

The worker does the rest itself. With the header "Authorization: Bearer <worker_handle>" it gets its prompt from \
GET <base_url>/v1/worker/prompt?task_id=<task_id>, does the work, and posts the result to POST <base_url>/v1/worker/submit.

The handle is valid for ${inWords(lives.tokenMs)}, and the worker may work in silence for so long. If the work may take longer, the worker renews the handle in time, as often as it needs to, with the JSON body {"events": [{"type": "progress", "text": "<what is done>"}]} to POST <base_url>/v1/worker/events. Each such post makes the handle valid for ${inWords(lives.tokenMs)} more. After the first one, the worker posts again at least every ${inWords(lives.leaseMs)} until it posts the result. The prompt says the same under "lease".

- Do not fetch the prompt yourself, and do not do the work yourself.
- Do not wrap, explain, summarise, translate or extend the four lines.
- Launch no second worker for this request.

When the worker has finished, send this frame:
${done}

If that agent cannot be launched, or the worker fails, say so; never let another agent stand in for it. Send this frame:
${failed}
`;
}

/** The largest unit that says it exactly. */
function inWords(ms: number): string {
  for (const [name, unit] of [
    ["hour", 3_600_000],
    ["minute", 60_000],
    ["second", 1000],
  ] as const) {
    const count = ms / unit;
    if (Number.isInteger(count)) return count === 1 ? `1 ${name}` : `${count} ${name}s`;
  }
  return `${ms} milliseconds`;
}

function requireOneLine(name: string, value: string): void {
  if (value.trim() === "" || /[\p{Cc}\u2028\u2029]/u.test(value)) {
    throw new TuttiError("invalid_input", `${name} must be one line of text that is not empty`, { details: { name } });
  }
}

/** Without a slash at the end, so that paths can be appended. */
function requireBaseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const plain = url !== undefined && url.username === "" && url.password === "" && url.search === "" && url.hash === "";
  if (!plain || (url.protocol !== "http:" && url.protocol !== "https:")) {
    const message = "base_url must be an http or https address without user, query or fragment";
    throw new TuttiError("invalid_input", message);
  }
  return trimEndOf(url.href, "/");
}
