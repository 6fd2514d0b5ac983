// A model for coding agents on any wire: it has the agent run a command through its own shell tool, then says that it is done.

import type { TestContext } from "node:test";

import { type ModelServer, modelServer, type Received, type Turn } from "../support/model-server.ts";
import type { Wire } from "../support/model-server-wires.ts";

/** The shell tools of the agents, and what each is called with. */
const shellTools: Readonly<Record<string, (command: string) => unknown>> = {
  Bash: (command) => ({ command, description: "runs a command" }),
  exec_command: (cmd) => ({ cmd, sandbox_permissions: "require_escalated", justification: "it changes files" }),
  run_shell_command: (command) => ({ command, description: "runs a command" }),
  bash: (command) => ({ command, description: "runs a command" }),
};

export interface ShellCallModel extends ModelServer {
  /** While it is set, requests with tools get no answer. */
  silent: boolean;
  /** How many requests with tools came. */
  readonly asked: () => number;
}

export async function shellCallModel(t: TestContext, wire: Wire, command: string): Promise<ShellCallModel> {
  const state = { silent: false, asked: 0 };
  const server = await modelServer(t, wire, (request): Turn => {
    const shell = offeredTools(request).find((name) => Object.hasOwn(shellTools, name));
    // Titles, routing and the like are asked of the model too, without tools.
    if (shell === undefined) return { reply: { text: ['{"title": "work", "complexity_score": 1}'] } };
    state.asked += 1;
    if (state.silent) return { silent: true };
    if (hasResult(request)) return { reply: { text: ["All done."] } };
    const args = JSON.stringify(shellTools[shell]?.(command));
    return { reply: { calls: [{ id: `call_${state.asked}`, name: shell, args }] } };
  });
  return {
    ...server,
    get silent() {
      return state.silent;
    },
    set silent(wanted) {
      state.silent = wanted;
    },
    asked: () => state.asked,
  };
}

function offeredTools({ body }: Received): string[] {
  return [...JSON.stringify(body["tools"] ?? []).matchAll(/"name":"([\w.-]+)"/g)].map(([, name]) => name ?? "");
}

function hasResult({ body }: Received): boolean {
  const messages = JSON.stringify(body["messages"] ?? body["input"] ?? body["contents"] ?? []);
  return /"type":"(?:tool_result|function_call_output)"|"functionResponse":|"role":"tool"/.test(messages);
}
