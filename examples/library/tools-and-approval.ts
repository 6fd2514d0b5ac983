// A tool that needs a person's yes: the run waits, and the program answers, at once or later.
import { agent, openTutti, tool } from "tutti";
import { call, script } from "tutti/testing";
import { z } from "zod";

const refund = tool({
  name: "refund",
  description: "Pays money back.",
  input: z.object({ order: z.string(), euros: z.number() }),
  effects: ["network"],
  approval: "ask",
  // The key is the same for every try of this call, so that the bank pays only once.
  run: ({ order, euros }, { key }) => `paid ${euros} EUR for ${order}, reference ${key.length > 0 ? "given" : "none"}`,
});

const support = agent({
  name: "support",
  instructions: "Help customers. Pay back what they are owed.",
  model: script(
    call("refund", { order: "A-17", euros: 20 }),
    call("refund", { order: "A-17", euros: 2000 }),
    "You get 20 EUR back.",
  ),
  tools: [refund],
});

await using tutti = await openTutti({ memory: true, agents: [support] });

const Call = z.object({ call: z.object({ input: z.object({ euros: z.number() }) }) });
const run = await tutti.run(support, "My parcel came broken.", {
  onAsk(ask) {
    const { euros } = Call.parse(ask.details).call.input;
    console.log(`${ask.kind}: may it pay ${euros} EUR?`);
    return euros <= 100 ? true : { kind: "approval", approved: false, reason: "that is too much" };
  },
});
for await (const part of run.stream()) {
  if (part.type === "tool-result") console.log(part.ok ? part.output : `refused: ${part.error}`);
}
console.log(await run.result());
