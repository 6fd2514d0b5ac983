// The AI SDK: generateText with a tool. It keeps nothing.
import { generateText, stepCountIs, tool } from "ai";
import { z } from "zod";

import { answer, description, instructions, look, modelObject } from "./work.js";

export async function open({ delayMs }) {
  const model = modelObject("v4");
  const slow = modelObject("v4", { delayMs });
  const tools = { look: tool({ description, inputSchema: z.object({ turn: z.number() }), execute: look }) };
  return {
    async run() {
      const { text } = await generateText({
        model,
        system: instructions,
        prompt: "go",
        tools,
        stopWhen: stepCountIs(20),
      });
      if (text !== answer) throw new Error(text);
    },
    child: () => generateText({ model: slow, system: instructions, prompt: "go" }),
    close: async () => undefined,
  };
}
