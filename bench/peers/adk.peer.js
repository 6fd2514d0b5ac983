// Google's ADK: an agent with a model of its own class, and its runner in memory.
import { BaseLlm, FunctionTool, InMemoryRunner, LlmAgent } from "@google/adk";
import { z } from "zod";

import { answer, callAt, description, instructions, look } from "./work.js";

class BenchModel extends BaseLlm {
  async *generateContentAsync({ contents }) {
    const done = contents
      .flatMap(({ parts = [] }) => parts)
      .filter((part) => part.functionResponse !== undefined).length;
    const call = callAt(done);
    const part =
      call === undefined ? { text: answer } : { functionCall: { id: call.id, name: "look", args: call.args } };
    yield { content: { role: "model", parts: [part] } };
  }
  async connect() {
    throw new Error("not live");
  }
}

export async function open() {
  const looking = new FunctionTool({
    name: "look",
    description,
    parameters: z.object({ turn: z.number() }),
    execute: () => ({ text: look() }),
  });
  const agent = new LlmAgent({
    name: "worker",
    model: new BenchModel({ model: "bench" }),
    instruction: instructions,
    tools: [looking],
  });
  const runner = new InMemoryRunner({ agent, appName: "bench" });
  return {
    async run() {
      const session = await runner.sessionService.createSession({ appName: "bench", userId: "u" });
      let text = "";
      const newMessage = { role: "user", parts: [{ text: "go" }] };
      for await (const event of runner.runAsync({ userId: "u", sessionId: session.id, newMessage })) {
        text = event.content?.parts?.[0]?.text ?? text;
      }
      if (text !== answer) throw new Error(text);
    },
    close: async () => undefined,
  };
}
