// A first agent: a tool, an agent with a typed result, a run. A script plays the model, so that it runs without a key.
// With a key, write model: "anthropic/claude-sonnet-5-5", or a model object of any AI SDK package.
import { agent, openTutti, tool } from "tutti";
import { call, final, script } from "tutti/testing";
import { z } from "zod";

const weather = tool({
  name: "weather",
  description: "Tells the weather of a city.",
  input: z.object({ city: z.string() }),
  effects: ["network"],
  run: async ({ city }) => ({ city, degrees: -3, sky: "snow" }),
});

const guide = agent({
  name: "guide",
  instructions: "Say what to wear. Look at the weather first.",
  model: script(call("weather", { city: "Oslo" }), final({ advice: "a warm coat" })),
  tools: [weather],
  output: z.object({ advice: z.string() }),
});

await using tutti = await openTutti({ memory: true, agents: [guide] });
const run = await tutti.run(guide, "What to wear in Oslo?");
for await (const part of run.stream()) {
  if (part.type === "text") process.stdout.write(part.text);
  if (part.type === "tool-call") console.log(`the agent looks at the weather of ${part.input.city}`);
}
const { advice } = await run.result();
console.log(`wear ${advice}`);
