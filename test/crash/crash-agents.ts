// The agents of the crash test: one calls tools in text and makes mistakes, one calls them natively and delegates.

import { z } from "zod";

import { builtinTools } from "../../src/agent/agent-environment.ts";
import type { TaskInput } from "../../src/agent/delegation/task-input.ts";
import { stepTool, type Tool } from "../../src/agent/tools/tool.ts";
import { rehearsalModel } from "../../src/model/rehearsal/rehearsal-model.ts";
import type { NewTask, Runner } from "../../src/ports.ts";
import { named, single } from "../../src/protocol/invocation/invocation-builders.ts";
import { InvocationFile } from "../../src/protocol/invocation/invocation-file.ts";
import { userMessage } from "../../src/protocol/task/message.ts";
import { localRunner } from "../../src/runner/local/runner.ts";
import { task } from "../support/engine-kit.ts";
import type { Effect } from "./crash-loops.ts";

/** What every agent must end with, whatever became of single calls. */
export const agentResult = { done: true };

const call = (tool: string, as: string): string => `\`\`\`tool\n{"name":"${tool}","args":{"as":"${as}"}}\n\`\`\``;
const output_schema = { type: "object", properties: { done: { type: "boolean" } }, required: ["done"] };

export const agentFile = InvocationFile.parse({
  invocation: single(named("texter", "go")),
  agents: {
    texter: { instructions: "Write.", format: "fenced", output_schema, context_tokens: 6_000 },
    caller: { instructions: "Call.", output_schema, sub_agents: ["helper"] },
    helper: { instructions: "Help.", format: "fenced" },
  },
  script: {
    rules: [
      {
        agent: "texter",
        turn: 0,
        delay_ms: 2,
        raw: `${call("mark", "a")}\n\`\`\`tool\n{"name":"mark","args":{"as":"C:\\q"}}`,
      },
      {
        agent: "texter",
        turn: 1,
        raw: `${call("peek", "b")}\n${call("peek", "c")}\n${call("mark", "d")}\n${call("peek", "e")}`,
      },
      { agent: "texter", turn: 2, raw: '<tool_call>{"name":"mark"}</tool_call>', delay_ms: 3 },
      { agent: "texter", turn: 3, raw: call("sign", "f") },
      { agent: "texter", turn: 4, final: { done: "yes" } },
      { agent: "texter", delay_ms: 1, final: agentResult },
      { agent: "caller", turn: 0, delay_ms: 1, call: ["g", "h"].map((as) => ({ tool: "peek", args: { as } })) },
      {
        agent: "caller",
        turn: 1,
        delegate: [
          { agent: "helper", prompt: "one" },
          { agent: "helper", prompt: "two" },
        ],
      },
      { agent: "caller", turn: 2, call: [{ tool: "mark", args: { as: "i" } }, { tool: "ecco" }] },
      { agent: "caller", turn: 3, say: "No result yet." },
      { agent: "caller", final: agentResult },
      { agent: "helper", turn: 0, call: [{ tool: "mark", args: { as: "j" } }], delay_ms: 2 },
      { agent: "helper", say: "helped with {{user}}" },
    ],
  },
});

export const agentTasks: readonly NewTask[] = ["texter", "caller"].map((agent) => {
  const input: TaskInput = {
    agent: { type: "named", agent_id: agent },
    message: { ...userMessage("go"), created_at: 0 },
    tools: "*",
    context: "independent",
  };
  return task(agent, { runner: { kind: "local", config: {} }, input });
});

/** Runs the full loop with tools whose every execution is told to the outside. */
export function agentRunner(effect: Effect): Runner {
  const tool = (name: string, { repeatable }: { readonly repeatable: boolean }): Tool =>
    stepTool({
      name,
      description: "Leaves a trace.",
      input: z.strictObject({ as: z.string() }),
      repeatable,
      async run({ as }, { step }) {
        effect(step.key, repeatable);
        if (as < "e") await new Promise((resolve) => setTimeout(resolve, 1));
        return `did ${as} ${"and more ".repeat(100)}`;
      },
    });
  const own = [
    tool("peek", { repeatable: true }),
    tool("mark", { repeatable: false }),
    tool("sign", { repeatable: false }),
  ];
  return localRunner({
    tools: [...builtinTools, ...own],
    approvals: [{ from: "project" as const, rules: { tools: { sign: "ask" } } }],
    model: (file) => rehearsalModel(file.script),
  });
}
