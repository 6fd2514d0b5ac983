// LangGraph: its prebuilt agent with a chat model of its own; with its SQLite saver when asked to keep every step.
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { createReactAgent } from "@langchain/langgraph/prebuilt";
import { join } from "node:path";
import { z } from "zod";

import { answer, callAt, description, instructions, look, pause } from "./work.js";

class BenchModel extends BaseChatModel {
  constructor({ delayMs }) {
    super({});
    this.delayMs = delayMs;
  }
  _llmType() {
    return "bench";
  }
  bindTools() {
    return this;
  }
  async _generate(messages) {
    await pause(this.delayMs ?? 0);
    const results = messages.filter((message) => message.getType() === "tool").length;
    const call = this.delayMs !== undefined ? undefined : callAt(results);
    const message =
      call === undefined
        ? new AIMessage(answer)
        : new AIMessage({ content: "", tool_calls: [{ id: call.id, name: "look", args: call.args }] });
    return { generations: [{ message, text: "" }] };
  }
}

export async function open({ folder, durable, delayMs }) {
  const looking = tool(look, { name: "look", description, schema: z.object({ turn: z.number() }) });
  const saver = durable ? (await import("@langchain/langgraph-checkpoint-sqlite")).SqliteSaver : undefined;
  const checkpointer = saver?.fromConnString(join(folder, "langgraph.db"));
  const saved = checkpointer === undefined ? {} : { checkpointer };
  const agent = createReactAgent({ llm: new BenchModel({}), tools: [looking], prompt: instructions, ...saved });
  const child = createReactAgent({ llm: new BenchModel({ delayMs }), tools: [], prompt: instructions, ...saved });
  let threads = 0;
  const runWith = async (used) => {
    const config = { recursionLimit: 50, configurable: { thread_id: `t${process.pid}-${(threads += 1)}` } };
    const { messages } = await used.invoke({ messages: [{ role: "user", content: "go" }] }, config);
    if (messages.at(-1).content !== answer) throw new Error(String(messages.at(-1).content));
  };
  return {
    run: () => runWith(agent),
    child: () => runWith(child),
    close: async () => undefined,
  };
}
