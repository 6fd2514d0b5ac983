// Google's ADK: an agent with a model of its own class, and its runner in memory.
import { BaseLlm, FunctionTool, InMemoryRunner, LlmAgent } from "@google/adk";
import { z } from "zod";

import { answer, callAt, description, instructions, look, pause } from "./work.js";

class BenchModel extends BaseLlm {
  constructor({ delayMs, ...rest }) {
    super(rest);
    this.delayMs = delayMs;
  }
  async *generateContentAsync({ contents }) {
    const done = contents
      .flatMap(({ parts = [] }) => parts)
      .filter((part) => part.functionResponse !== undefined).length;
    await pause(this.delayMs ?? 0);
    const call = this.delayMs !== undefined ? undefined : callAt(done);
    const part =
      call === undefined ? { text: answer } : { functionCall: { id: call.id, name: "look", args: call.args } };
    yield { content: { role: "model", parts: [part] } };
  }
  async connect() {
    throw new Error("not live");
  }
}

export async function open({ delayMs }) {
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
  const child = new LlmAgent({
    name: "child",
    model: new BenchModel({ model: "bench", delayMs }),
    instruction: instructions,
  });
  const [runner, ofChildren] = [agent, child].map((each) => new InMemoryRunner({ agent: each, appName: "bench" }));
  const runWith = async (used) => {
    const session = await used.sessionService.createSession({ appName: "bench", userId: "u" });
    let text = "";
    const newMessage = { role: "user", parts: [{ text: "go" }] };
    for await (const event of used.runAsync({ userId: "u", sessionId: session.id, newMessage })) {
      text = event.content?.parts?.[0]?.text ?? text;
    }
    if (text !== answer) throw new Error(text);
  };
  return {
    run: () => runWith(runner),
    child: () => runWith(ofChildren),
    close: async () => undefined,
  };
}
