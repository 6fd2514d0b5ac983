// `npm run differential`: compares the parsers and the router with their oracles, 20,000 cases each unless told otherwise.
import { parseArgs } from "node:util";

import { compare } from "./compare.ts";

const { values } = parseArgs({ options: { cases: { type: "string" }, seed: { type: "string" } } });
const cases = Number(values.cases ?? 20_000);
const seed = Number(values.seed ?? 20_261_116);

let differed = 0;
for (const what of ["decisions", "toolcalls", "routes"] as const) {
  const { outcomes, differences } = compare(what, { cases, seed });
  console.log(`${what}: ${cases} cases from seed ${seed}, ${differences.length} differences`, outcomes);
  for (const difference of differences) console.log(JSON.stringify(difference, null, 2));
  differed += differences.length;
}
process.exitCode = differed === 0 ? 0 : 1;
