// OpenAI Agents, with a model of its own interface. It keeps nothing.
import { Agent, run, setTracingDisabled, tool, Usage } from "@openai/agents";
import { z } from "zod";

import { answer, callAt, description, instructions, look, pause } from "./work.js";

export async function open({ delayMs }) {
  setTracingDisabled(true);
  const modelWith = (ownDelayMs) => ({
    async getResponse({ input }) {
      await pause(ownDelayMs ?? 0);
      const done = Array.isArray(input) ? input.filter(({ type }) => type === "function_call_result").length : 0;
      const call = ownDelayMs !== undefined ? undefined : callAt(done);
      const output =
        call === undefined
          ? [
              {
                type: "message",
                id: "m",
                role: "assistant",
                status: "completed",
                content: [{ type: "output_text", text: answer }],
              },
            ]
          : [
              {
                type: "function_call",
                callId: call.id,
                name: "look",
                arguments: JSON.stringify(call.args),
                status: "completed",
              },
            ];
      return { usage: new Usage({ requests: 1, inputTokens: 100, outputTokens: 20, totalTokens: 120 }), output };
    },
    getStreamedResponse() {
      throw new Error("not streamed");
    },
  });
  const looking = tool({ name: "look", description, parameters: z.object({ turn: z.number() }), execute: look });
  const agent = new Agent({ name: "worker", instructions, model: modelWith(), tools: [looking] });
  const child = new Agent({ name: "child", instructions, model: modelWith(delayMs) });
  return {
    child: () => run(child, "go"),
    async run() {
      const { finalOutput } = await run(agent, "go", { maxTurns: 20 });
      if (finalOutput !== answer) throw new Error(String(finalOutput));
    },
    close: async () => undefined,
  };
}
