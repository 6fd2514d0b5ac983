// VoltAgent: an agent with a tool, with its memory in the process.
import { Agent, createTool } from "@voltagent/core";
import { z } from "zod";

import { answer, description, instructions, look, modelObject } from "./work.js";

export async function open({ delayMs }) {
  const looking = createTool({
    name: "look",
    description,
    parameters: z.object({ turn: z.number() }),
    execute: async () => look(),
  });
  const agent = new Agent({ name: "worker", instructions, model: modelObject("v3"), tools: [looking], memory: false });
  const child = new Agent({ name: "child", instructions, model: modelObject("v3", { delayMs }), memory: false });
  return {
    child: () => child.generateText("go"),
    async run() {
      const { text } = await agent.generateText("go", { maxSteps: 20 });
      if (text !== answer) throw new Error(text);
    },
    close: async () => undefined,
  };
}
