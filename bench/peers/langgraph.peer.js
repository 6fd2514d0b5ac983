// LangGraph: its prebuilt agent with a chat model of its own; with its SQLite saver when asked to keep every step.
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { createReactAgent } from "@langchain/langgraph/prebuilt";
import { join } from "node:path";
import { z } from "zod";

import { answer, callAt, description, instructions, look } from "./work.js";

class BenchModel extends BaseChatModel {
  _llmType() {
    return "bench";
  }
  bindTools() {
    return this;
  }
  async _generate(messages) {
    const call = callAt(messages.filter((message) => message.getType() === "tool").length);
    const message =
      call === undefined
        ? new AIMessage(answer)
        : new AIMessage({ content: "", tool_calls: [{ id: call.id, name: "look", args: call.args }] });
    return { generations: [{ message, text: "" }] };
  }
}

export async function open({ folder, durable }) {
  const looking = tool(look, { name: "look", description, schema: z.object({ turn: z.number() }) });
  const saver = durable ? (await import("@langchain/langgraph-checkpoint-sqlite")).SqliteSaver : undefined;
  const checkpointer = saver?.fromConnString(join(folder, "langgraph.db"));
  const agent = createReactAgent({
    llm: new BenchModel({}),
    tools: [looking],
    prompt: instructions,
    ...(checkpointer === undefined ? {} : { checkpointer }),
  });
  let threads = 0;
  return {
    async run() {
      const config = { recursionLimit: 50, configurable: { thread_id: `t${(threads += 1)}` } };
      const { messages } = await agent.invoke({ messages: [{ role: "user", content: "go" }] }, config);
      if (messages.at(-1).content !== answer) throw new Error(String(messages.at(-1).content));
    },
    close: async () => undefined,
  };
}
