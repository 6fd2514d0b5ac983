// AgentKit: it has no interface for a model in the process, so `fetch` is replaced; a network of one agent feeds results back.
import { createAgent, createNetwork, createTool, openai } from "@inngest/agent-kit";
import { z } from "zod";

import { answer, callAt, description, instructions, look, pause } from "./work.js";

export async function open({ delayMs }) {
  globalThis.fetch = async (_url, { body }) => {
    const { messages, model: name } = JSON.parse(body);
    const isChild = name === "child";
    await pause(isChild ? delayMs : 0);
    const call = isChild ? undefined : callAt(messages.filter(({ role }) => role === "tool").length);
    const message =
      call === undefined
        ? { role: "assistant", content: answer }
        : {
            role: "assistant",
            content: null,
            tool_calls: [
              { id: call.id, type: "function", function: { name: "look", arguments: JSON.stringify(call.args) } },
            ],
          };
    const choices = [{ index: 0, finish_reason: call === undefined ? "stop" : "tool_calls", message }];
    return new Response(JSON.stringify({ choices, usage: {} }), { headers: { "content-type": "application/json" } });
  };
  const looking = createTool({
    name: "look",
    description,
    parameters: z.object({ turn: z.number() }),
    handler: async () => look(),
  });
  const modelNamed = (name) => openai({ model: name, apiKey: "none", baseUrl: "http://127.0.0.1:9/v1" });
  const model = modelNamed("bench");
  const worker = createAgent({ name: "worker", system: instructions, tools: [looking], model });
  const child = createAgent({ name: "child", system: instructions, model: modelNamed("child") });
  return {
    child: () => child.run("go"),
    async run() {
      const network = createNetwork({
        name: "one",
        agents: [worker],
        defaultModel: model,
        maxIter: 20,
        router: ({ lastResult }) => (lastResult?.output.some(({ type }) => type === "text") ? undefined : worker),
      });
      const { state } = await network.run("go");
      const said = state.results.at(-1)?.output.find(({ type }) => type === "text")?.content;
      if (said !== answer) throw new Error(String(said));
    },
    close: async () => undefined,
  };
}
