// A conversation of 200 turns: what a turn costs at its end against what it costs at its start, in both formats.
import { z } from "zod";

import { agentEnvironment } from "../src/agent/agent-environment.ts";
import { agentLoop, type LoopDeps } from "../src/agent/loop/loop.ts";
import type { TaskInput } from "../src/agent/delegation/task-input.ts";
import { stepTool } from "../src/agent/tools/tool.ts";
import type { Model } from "../src/model-port.ts";
import { named, single } from "../src/protocol/invocation/invocation-builders.ts";
import { InvocationFile } from "../src/protocol/invocation/invocation-file.ts";
import { userMessage } from "../src/protocol/task/message.ts";
import { renderToolCall } from "../src/protocol/toolcalls/render-tool-call.ts";
import { inFolder, newChildren, newTask, openBench, spawnAndJoin } from "./bench-engine.ts";
import { report, round } from "./measure.ts";

const turns = 200;
/** The first and the last turns that count; those between are not measured. */
const stretch = 40;
const conversations = 12;
const rounds = 5;
const filler = "lorem ipsum dolor sit amet ".repeat(20);

const definition = { instructions: "Look two hundred times.", max_turns: 400, context_tokens: 100_000_000 };
const file = InvocationFile.parse({
  invocation: single(named("native", "go")),
  agents: { native: { ...definition, format: "native" }, fenced: { ...definition, format: "fenced" } },
});

const look = stepTool({
  name: "look",
  description: "Looks.",
  input: z.strictObject({ turn: z.int() }),
  repeatable: true,
  run: ({ turn }) => ({ turn, text: filler }),
});

/** CPU microseconds since the process began, noted at every turn. */
let marks: number[] = [];
const model: Model = {
  estimate: () => ({ input_tokens: 100, output_tokens: 100, money_micro_usd: 0 }),
  async call({ messages, format }) {
    const { user, system } = process.cpuUsage();
    marks.push(user + system);
    const turn = (messages.length - 1) / 2;
    const call = { tool_call_id: `c${turn}`, tool_name: "look", input: { turn } };
    const parts =
      turn === turns
        ? [{ part_type: "text" as const, data: "done" }]
        : format === "fenced"
          ? [{ part_type: "text" as const, data: `Reader.\n\n${renderToolCall("look", { turn })}` }]
          : [
              { part_type: "text" as const, data: "Reader." },
              { part_type: "tool_call" as const, data: call },
            ];
    const usage = { input_tokens: 100, output_tokens: 20, money_micro_usd: 0 };
    return { message: { name: null, role: "assistant", parts }, usage, finish: "stop" };
  },
};
const deps: LoopDeps = {
  model: () => model,
  environment: agentEnvironment({ tools: [look, ...agentEnvironment().tools] }),
};

const input = (format: string): TaskInput => ({
  agent: { type: "named", agent_id: format },
  message: { ...userMessage("go"), created_at: 0 },
  tools: "*",
  context: "independent",
});

await inFolder(async (folder) => {
  const childOf = (format: string) => newChildren(1, format).map((child) => ({ ...child, input: input(format) }));
  const { complete, close } = openBench(folder, {
    root_native: (durable) => spawnAndJoin(durable, childOf("native")),
    root_fenced: (durable) => spawnAndJoin(durable, childOf("fenced")),
    native: (durable) => agentLoop(durable, deps),
    fenced: (durable) => agentLoop(durable, deps),
  });
  for (const format of ["native", "fenced"] as const) {
    let [first, last] = [Infinity, Infinity];
    for (let index = -1; index < rounds; index += 1) {
      let [start, end] = [0, 0];
      for (let each = 0; each < conversations; each += 1) {
        marks = [];
        await complete({ ...newTask(`root_${format}`), input: file });
        if (marks.length !== turns + 1) throw new Error(`${marks.length} turns`);
        const at = (turn: number): number => marks[turn] ?? Number.NaN;
        start += at(stretch) - at(0);
        end += at(turns) - at(turns - stretch);
      }
      if (index < 0) continue;
      first = Math.min(first, start);
      last = Math.min(last, end);
    }
    const perTurn = (sum: number): number => round(sum / conversations / stretch, 1);
    report({
      name: `agent-turns-${format}`,
      ratio: last / first,
      target: 1.5,
      figures: { first_turns_cpu_us: perTurn(first), last_turns_cpu_us: perTurn(last) },
    });
  }
  await close();
});
