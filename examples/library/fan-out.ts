// Several agents at once, with one budget: the results are a tuple, and one that fails hides no other.
import { agent, openTutti, target } from "tutti";
import { fails, final, script } from "tutti/testing";
import { z } from "zod";

const judge = agent({
  name: "judge",
  instructions: "Give points from 0 to 10.",
  model: script(final({ points: 8 })),
  output: z.object({ points: z.number() }),
});
const poet = agent({ name: "poet", instructions: "Write one line.", model: script("Snow falls on the harbour.") });
const broken = agent({ name: "broken", instructions: "x", model: script(fails("unreachable", "no connection")) });

await using tutti = await openTutti({ memory: true, agents: [judge, poet, broken] });

const both = await tutti.fanOut([target(judge, "the text"), target(poet, "winter")], { budget: { tokens: 100_000 } });
const [{ points }, line] = await both.results();
console.log(`${points} points for: ${line}`);

const mixed = await tutti.fanOut([target(poet, "winter"), target(broken, "winter")]);
for (const outcome of await mixed.outcomes()) {
  console.log(outcome.status === "completed" ? outcome.output : `failed: ${outcome.error.message}`);
}

const many = await tutti.fanOut(["Oslo", "Rome", "Lima"].map((city) => target(judge, city)));
const sum = (await many.results()).reduce((total, each) => total + each.points, 0);
console.log(`${sum} points in all`);
