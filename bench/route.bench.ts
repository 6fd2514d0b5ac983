// Routing a handoff against parsing its JSON text: the floor is the least work any reader of the text must do.

import { readFileSync } from "node:fs";
import { readHandoff } from "../src/protocol/routing/read-handoff.ts";
import { readPolicy } from "../src/protocol/routing/read-policy.ts";
import { route } from "../src/protocol/routing/route-handoff.ts";
import { bestOf, report, round } from "./measure.ts";

const lines = readFileSync(new URL("../test/corpus/routing.jsonl", import.meta.url), "utf8")
  .trim()
  .split("\n");
const cases = lines.map((line) => {
  const { policy, handoff } = JSON.parse(line) as { policy?: unknown; handoff: unknown };
  const json = JSON.stringify(handoff);
  const [readablePolicy, readableHandoff] = [readPolicy(policy ?? {}), readHandoff(json)];
  if (!readablePolicy.ok || !readableHandoff.ok) throw new Error(`unreadable case: ${line}`);
  return { policy: readablePolicy.value, handoff: readableHandoff.value, json };
});
const wholeWords = cases.map(({ policy, handoff }) => ({ policy: { ...policy, words: "boundary" as const }, handoff }));

const repeats = 400;
let used = 0;
const best = bestOf(25, {
  route: () => {
    for (let round = 0; round < repeats; round += 1) {
      for (const { policy, handoff } of cases) used += route(policy, handoff).ok ? 1 : 0;
    }
  },
  boundary: () => {
    for (let round = 0; round < repeats; round += 1) {
      for (const { policy, handoff } of wholeWords) used += route(policy, handoff).ok ? 1 : 0;
    }
  },
  parse: () => {
    for (let round = 0; round < repeats; round += 1) {
      for (const { json } of cases) used += JSON.parse(json) === null ? 0 : 1;
    }
  },
});

const each = (milliseconds: number): number => round((milliseconds * 1000) / (repeats * cases.length));
report({
  name: "route",
  ratio: best.route / best.parse,
  target: 1,
  figures: {
    route_us: each(best.route),
    boundary_us: each(best.boundary),
    parse_us: each(best.parse),
    cases: cases.length,
    used: used > 0,
  },
});
