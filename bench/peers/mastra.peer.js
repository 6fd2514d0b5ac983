// Mastra: an agent with a tool. It keeps nothing without a storage.
import { Agent } from "@mastra/core/agent";
import { createTool } from "@mastra/core/tools";
import { z } from "zod";

import { answer, description, instructions, look, modelObject } from "./work.js";

export async function open() {
  const looking = createTool({
    id: "look",
    description,
    inputSchema: z.object({ turn: z.number() }),
    execute: async () => look(),
  });
  const agent = new Agent({
    id: "worker",
    name: "worker",
    instructions,
    model: modelObject("v3"),
    tools: { look: looking },
  });
  return {
    async run() {
      const { text } = await agent.generate("go", { maxSteps: 20 });
      if (text !== answer) throw new Error(text);
    },
    close: async () => undefined,
  };
}
