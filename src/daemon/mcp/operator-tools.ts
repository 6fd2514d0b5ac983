// The MCP tools with which a language model is an operator: it joins, asks what waits for it, and answers.

import { z } from "zod";

import type { Clock } from "../../ports.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { ClientFrame } from "../../protocol/operator/frames.ts";
import { JoinOperator } from "../../protocol/operator/operator-session.ts";
import { parseRequestId } from "../../protocol/operator/request-id.ts";
import type { OperatorHub } from "../operators/operator-hub.ts";
import { boundedWait } from "./bounded-wait.ts";
import { type McpCall, type McpCaller, type McpTool, mcpTool } from "./mcp-tool.ts";
import { OperatorReply, PolledOperator } from "./polled-operator.ts";

const longestPollMs = 120_000;
const Session = z.strictObject({ sid: z.string().min(1).max(128).describe("What operator_join returned.") });

type Hub = Pick<OperatorHub, "join" | "leave" | "keyOf" | "connect" | "reply">;

export interface OperatorToolsOptions {
  readonly operators: Hub;
  readonly clock: Pick<Clock, "now">;
}

/** To be made once for each service: it keeps the connections between calls. */
export function operatorTools({ operators, clock }: OperatorToolsOptions): McpTool[] {
  const connections = new Map<string, PolledOperator>();
  const connectionOf = (sid: string): PolledOperator => {
    const known = connections.get(sid);
    if (known?.readyState === 1 && !known.mustReconnect) return known;
    const made = new PolledOperator(() => clock.now());
    made.once("close", () => {
      if (connections.get(sid) === made) connections.delete(sid);
    });
    connections.set(sid, made);
    operators.connect(sid, made);
    return made;
  };
  return [
    mcpTool({
      name: "operator_join",
      description:
        "Makes you an operator of Tutti: you can be asked to agree to tasks, to answer questions, and to have workers do " +
        "tasks. `roles` are the names that invocations address you by. Returns your sid; then call operator_pending again " +
        "and again.",
      access: "operator",
      readOnly: false,
      input: JoinOperator.extend({
        key: z.string().min(1).max(255).optional().describe("An idempotency key: the same key finds the same session."),
      }),
      async run({ roles, key }, { caller }) {
        const joined = await operators.join(roles, keyIdOf(caller), key);
        if (joined.ok) return { sid: joined.sid, roles: joined.roles };
        const taken = joined.conflicts.join(", ");
        throw new TuttiError("conflict", `these names belong to other operators: ${taken}; leave them out`);
      },
    }),
    mcpTool({
      name: "operator_pending",
      description:
        "Returns every request that waits for you, and news of tasks that you agreed to. Waits for one while there is " +
        "none. Answer each with operator_answer: an `ask` with `value`, a `hook_before` (may this task start?) with `ok`, " +
        "a `spawn` by having its task done. For a spawn, hand task_id and worker_handle to a sub-agent that calls " +
        "worker_fetch, does the work and calls worker_submit, or do that yourself; then answer with `ok: true`.",
      access: "operator",
      readOnly: true,
      input: Session.extend({ wait_ms: z.int().min(0).max(longestPollMs).default(25_000) }),
      async run({ sid, wait_ms }, call) {
        own(operators, sid, call);
        const connection = connectionOf(sid);
        // A new connection is sent what is open after the next commit.
        const ms = Math.max(wait_ms, 250);
        const taken = await boundedWait(call, { ms, waitingFor: "a request" }, (signal) => connection.take(signal));
        call.signal.throwIfAborted();
        return "value" in taken ? taken.value : { requests: [], news: [] };
      },
    }),
    mcpTool({
      name: "operator_answer",
      description: "Answers one request of operator_pending. The first answer counts; a later one is told so.",
      access: "operator",
      readOnly: false,
      input: Session.extend({ req_id: z.string().min(1).max(256), ...OperatorReply.shape }),
      async run({ sid, req_id, ...reply }, call) {
        own(operators, sid, call);
        const error = await operators.reply(sid, frameOf(req_id, reply));
        if (error?.code !== "invalid_answer" && error?.code !== "wrong_kind") connections.get(sid)?.settled(req_id);
        if (error === undefined) return { accepted: true };
        throw new TuttiError(
          error.code === "already_answered" || error.code === "late" ? "conflict" : "invalid_input",
          error.message,
        );
      },
    }),
    mcpTool({
      name: "operator_leave",
      description: "Ends your operator session. What waits for your names waits for the next operator with them.",
      access: "operator",
      readOnly: false,
      input: Session,
      async run({ sid }, call) {
        own(operators, sid, call);
        return { left: await operators.leave(sid, "the operator left") };
      },
    }),
  ];
}

function keyIdOf(caller: McpCaller): string {
  if (caller.kind === "key") return caller.id;
  throw new TuttiError("refused", "a worker cannot be an operator; call this with an API key");
}

/** What an operator says is recorded under its name, so only the key that joined may speak for it. */
function own(operators: Hub, sid: string, { caller }: Pick<McpCall, "caller">): void {
  const joinedWith = operators.keyOf(sid);
  if (joinedWith === undefined) throw new TuttiError("not_found", `there is no operator ${sid}; join again`);
  if (joinedWith !== keyIdOf(caller)) {
    throw new TuttiError("refused", `another key joined as ${sid}; join yourself with operator_join`);
  }
}

function frameOf(request: string, { value, ok, reason, error }: OperatorReply): ClientFrame {
  const kind = parseRequestId(request)?.kind;
  switch (kind) {
    case "ask":
      if (value === undefined) throw missing("an `ask`", "value");
      return { type: "answer", req_id: request, value };
    case "hook_before":
      if (ok === undefined) throw missing("a `hook_before`", "ok");
      return { type: "hook_ack", req_id: request, ok, reason };
    case "spawn":
      return { type: "spawn_ack", req_id: request, value: value ?? {}, ok: ok ?? error === undefined, error };
    case "hook_after":
    case undefined:
      throw new TuttiError("invalid_input", `${request} is no request that waits for an answer; see operator_pending`);
  }
}

function missing(what: string, field: string): TuttiError {
  return new TuttiError("invalid_input", `${what} is answered with \`${field}\`, which is missing`);
}
