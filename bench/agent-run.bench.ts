// A run of ten tool calls and an answer through the whole agent loop, in both formats, against the engine's own loop of the same content.
//
// Both are children of one root, 64 at once, and record the same replies and results. The engine's loop only takes steps; the
// agent loop reads the reply, checks arguments and rights, prepares the next request and hears what was said from outside.
import { z } from "zod";

import { agentEnvironment } from "../src/agent/agent-environment.ts";
import { agentLoop, type LoopDeps } from "../src/agent/loop/loop.ts";
import type { TaskInput } from "../src/agent/delegation/task-input.ts";
import { stepTool } from "../src/agent/tools/tool.ts";
import type { NewTask } from "../src/ports.ts";
import type { Model, ModelFormat, ModelReply } from "../src/model-port.ts";
import { named, single } from "../src/protocol/invocation/invocation-builders.ts";
import { InvocationFile } from "../src/protocol/invocation/invocation-file.ts";
import { userMessage } from "../src/protocol/task/message.ts";
import { renderToolCall } from "../src/protocol/toolcalls/render-tool-call.ts";
import {
  callTools,
  inFolder,
  newChildren,
  newTask,
  openBench,
  replyAt,
  spawnAndJoin,
  toolOutcome,
} from "./bench-engine.ts";
import { type Cost, costOf, leastCost, report, round } from "./measure.ts";

const turns = 10;
const total = 320;
const rounds = 15;

const file = InvocationFile.parse({
  invocation: single(named("native", "go")),
  agents: {
    native: { instructions: "Look ten times, then answer.", format: "native" },
    fenced: { instructions: "Look ten times, then answer.", format: "fenced" },
  },
});

const look = stepTool({
  name: "look",
  description: "Looks.",
  input: z.strictObject({ turn: z.int() }),
  repeatable: false,
  run: () => toolOutcome,
});

function replyOf(turn: number, format: ModelFormat): ModelReply {
  const { message, usage } = replyAt(turn, turns);
  const { role, name } = message;
  if (format !== "fenced") return { message: { role, name, parts: message.parts }, usage, finish: "tools" };
  const text = message.parts.map((part) => (part.part_type === "text" ? part.data : renderToolCall("look", { turn })));
  return { message: { role, name, parts: [{ part_type: "text", data: text.join("\n\n") }] }, usage, finish: "stop" };
}

/** Its cost is not what is measured: what it says is made beforehand, and it knows the turn by the length of the conversation. */
const replies = {
  native: Array.from({ length: turns + 1 }, (_, turn) => replyOf(turn, "native")),
  fenced: Array.from({ length: turns + 1 }, (_, turn) => replyOf(turn, "fenced")),
};
const model: Model = {
  estimate: () => ({ input_tokens: 100, output_tokens: 100, money_micro_usd: 20 }),
  async call({ messages, format = "native" }) {
    const reply = replies[format][(messages.length - 1) / 2];
    if (reply === undefined) throw new Error(`no reply to ${messages.length} messages`);
    return reply;
  },
};
const deps: LoopDeps = {
  model: () => model,
  environment: agentEnvironment({ tools: [look, ...agentEnvironment().tools] }),
};

function agents(format: "native" | "fenced"): NewTask[] {
  const input: TaskInput = {
    agent: { type: "named", agent_id: format },
    message: { ...userMessage("go"), created_at: 0 },
    tools: "*",
    context: "independent",
  };
  return newChildren(total, format).map((child) => ({ ...child, input }));
}

const children = { engine: newChildren(total, "tools"), native: agents("native"), fenced: agents("fenced") };
const names = ["engine", "native", "fenced"] as const;

await inFolder(async (folder) => {
  const { complete, close } = openBench(folder, {
    root_engine: (durable) => spawnAndJoin(durable, children.engine),
    root_native: (durable) => spawnAndJoin(durable, children.native),
    root_fenced: (durable) => spawnAndJoin(durable, children.fenced),
    tools: (durable) => callTools(durable, turns),
    native: (durable) => agentLoop(durable, deps),
    fenced: (durable) => agentLoop(durable, deps),
  });
  const costs: Record<(typeof names)[number], Cost[]> = { engine: [], native: [], fenced: [] };
  for (let index = -1; index < rounds; index += 1) {
    for (const name of names) {
      const cost = await costOf(() => complete({ ...newTask(`root_${name}`), input: file }));
      if (index >= 0) costs[name].push(cost);
    }
  }
  await close();
  const engine = leastCost(costs.engine);
  for (const name of ["native", "fenced"] as const) {
    const loop = leastCost(costs[name]);
    report({
      name: `agent-run-${name}`,
      ratio: engine.wallMs / loop.wallMs,
      target: 0.6,
      bound: "at least",
      figures: {
        loop_runs_per_s: Math.round((total * 1000) / loop.wallMs),
        engine_runs_per_s: Math.round((total * 1000) / engine.wallMs),
        loop_cpu_ms: round(loop.cpuMs / total),
        engine_cpu_ms: round(engine.cpuMs / total),
        cpu_ratio: round(engine.cpuMs / loop.cpuMs),
      },
    });
  }
});
