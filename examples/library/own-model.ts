// A model of your own: anything with the AI SDK's language model interface, such as one of its provider packages.
import { agent, openTutti, tool } from "tutti";
import { z } from "zod";

const add = tool({
  name: "add",
  description: "Adds two numbers.",
  input: z.object({ a: z.number(), b: z.number() }),
  effects: ["read"],
  repeatable: true,
  run: ({ a, b }) => a + b,
});

interface Asked {
  readonly prompt: readonly { readonly role: string; readonly content: unknown }[];
}

const finish = (unified: string) => ({
  type: "finish",
  finishReason: { unified, raw: undefined },
  usage: { inputTokens: { total: 12 }, outputTokens: { total: 4 } },
});

/** It asks for a tool when it is asked, and says what came of it when it was told. */
const parrot = {
  specificationVersion: "v4",
  provider: "own",
  modelId: "parrot",
  supportedUrls: {},
  async doStream({ prompt }: Asked) {
    const last = prompt.at(-1);
    const parts: object[] =
      last?.role === "tool"
        ? [
            { type: "text-start", id: "1" },
            { type: "text-delta", id: "1", delta: "The tool says " },
            { type: "text-delta", id: "1", delta: JSON.stringify(last.content).match(/"value":"(\d+)"/)?.[1] ?? "?" },
            { type: "text-end", id: "1" },
            finish("stop"),
          ]
        : [{ type: "tool-call", toolCallId: "1", toolName: "add", input: '{"a":40,"b":2}' }, finish("tool-calls")];
    return { stream: ReadableStream.from(parts) };
  },
};

const clerk = agent({ name: "clerk", instructions: "Count.", model: parrot, tools: [add] });

await using tutti = await openTutti({ memory: true, agents: [clerk] });
const run = await tutti.run(clerk, "How much is 40 and 2?");
for await (const part of run.stream()) if (part.type === "text") process.stdout.write(part.text);
console.log();
const [shown] = await tutti.runs();
console.log(`${shown?.tokens} tokens in ${shown?.steps} steps`);
