// How the cost of reading and routing grows on hostile text, 256 KiB to 8 MiB; the ratio is the worst fitted exponent.

import { defaultPolicy } from "../src/protocol/routing/default-policy.ts";
import type { Handoff } from "../src/protocol/routing/handoff.ts";
import { readHandoff } from "../src/protocol/routing/read-handoff.ts";
import { readPolicy } from "../src/protocol/routing/read-policy.ts";
import { route } from "../src/protocol/routing/route-handoff.ts";
import { cpuOf, growthExponent, report, round } from "./measure.ts";

const sizes = [256, 1024, 4096, 8192].map((kibibytes) => kibibytes * 1024);
/** Small texts are over so soon that a few readings say little. */
const rounds = (size: number): number => (size < 512 * 1024 ? 10 : 3);

const filled = (unit: string, size: number): string => unit.repeat(Math.ceil(size / unit.length));
const numbered = (size: number, line: (index: number) => string): string => {
  const lines: string[] = [];
  for (let length = 0, index = 0; length < size; index += 1) {
    const next = line(index);
    lines.push(next);
    length += next.length + 1;
  }
  return lines.join("\n");
};
/** About a hundred characters a line, so that 8 MiB stay below the bound on lines and keys. */
const pad = "x".repeat(90);
/** Just below the bound on the length of a line. */
const oneLine = 120_000;
const levels = (depth: number): string =>
  Array.from({ length: depth }, (_, level) => `${"  ".repeat(level)}a:\n`).join("");

const texts: Record<string, (size: number) => string> = {
  "json: open objects": (size) => filled('{"context":', size),
  "json: open lists": (size) => `{"expected_output":${filled("[", size)}`,
  "json: closed lists": (size) => `{"expected_output":${filled("[", size / 2)}${filled("]", size / 2)}}`,
  "json: open quote": (size) => `{"objective":"${filled("a ", size)}`,
  "json: escaped quotes": (size) => `{"objective":"${filled('\\"', size)}"}`,
  "json: backslashes": (size) => `{"objective":"${filled("\\\\", size)}`,
  "json: long key": (size) => `{"${filled("k", size)}":1}`,
  "json: short keys": (size) => `{${numbered(size, (index) => `"k${index}":1,`)}"conf":0.9}`,
  "json: keys": (size) => `{${numbered(size, (index) => `"k${index}${pad}":1,`)}"conf":0.9}`,
  "json: free keys": (size) => `{"expected_output":{${numbered(size, (index) => `"k${index}${pad}":1,`)}"a":1}}`,
  "json: list": (size) => `{"risks":[${numbered(size, () => '"none",')}"none"]}`,
  "json: list of numbers": (size) => `{"risks":[${numbered(size, () => "1,")}1]}`,
  "json: list in a text": (size) => JSON.stringify({ risks: `[${filled('"a",', size)}"a"]` }),
  "json: open lists in a text": (size) => JSON.stringify({ risks: filled("[", size) }),
  "json: digits in a text": (size) => JSON.stringify({ conf: `${filled("1", size)}x` }),
  "toon: short keys": (size) => numbered(size, (index) => `key${index}: 1`),
  "toon: keys": (size) => numbered(size, (index) => `k${index}${pad}: 1`),
  "toon: same key": (size) => filled(`conf: ${pad}\n`, size),
  "toon: open quotes": (size) => filled(`objective: "${pad}\n`, size),
  "toon: quoted lines": (size) => numbered(size, (index) => `k${index}: "${filled("ab\\n", oneLine)}"`),
  "toon: items": (size) => numbered(size, (index) => `k${index}[1]: ${filled("ab ", oneLine)}x`),
  "toon: inline lists": (size) => numbered(size, (index) => `k${index}[1]: ${filled("abcdefg,", oneLine)}a`),
  "toon: quoted key": (size) => numbered(size, (index) => `"k${index}${filled('\\"', oneLine)}": 1`),
  "toon: one line": (size) => `objective: ${filled("scope ", size)}`,
  "toon: one line of colons": (size) =>
    `objective:${filled(" scope :", Math.min(size, oneLine))}${filled("\n#", size)}`,
  "toon: wrong lengths": (size) => numbered(size, (index) => `k${index}[3]: a,${pad}`),
  "toon: list items": (size) => `risks[9]:\n${filled(`  - ${pad}\n`, size)}`,
  "toon: lists after blank lines": (size) =>
    filled("\n", 20_000) + numbered(size, (index) => `k${index}[1]:\n  - ${pad}${pad}${pad}`),
  "toon: blank lines": (size) => filled(`${" ".repeat(100)}\n`, size),
  "toon: short blank lines": (size) => filled(" \n", size),
  "toon: comments": (size) => `a: 1\n${filled(`#${pad}\n`, size)}`,
  "toon: spaces": (size) => numbered(size, (index) => `b${index}:${filled(" ", 4000)}`),
  "toon: gap after a header": (size) => numbered(size, (index) => `k${index}[1]${filled(" ", oneLine)}x:`),
  "toon: short gap after a header": (size) => numbered(size, (index) => `k${index}[1]${filled(" ", 4000)}x:`),
  "toon: deep indentation": (size) => `a:\n${numbered(size, (index) => `${" ".repeat(index * 2)}b:`)}`,
  "toon: sixty levels": (size) => levels(60) + numbered(size, (index) => `${"  ".repeat(60)}k${index}: 1`),
  "toon: field groups": (size) => `a[1]{${filled("b{", 4000)}\n${filled(`  ${pad}\n`, size)}`,
  "toon: rows": (size) => `a[1]{b{c{d{e{f{g}}}}}}:\n${filled(`  ${pad}\n`, size)}`,
  "toon: braces": (size) => numbered(size, (index) => `k${index}: ${filled("{", 4000)}`),
  "toon: wide headers": (size) => numbered(size, (index) => `k${index}[0]{${filled("a,", 4000)}b}:`),
  backticks: (size) => filled("```\n", size),
  "backticks on one line": (size) => filled("`", size),
  "fences around TOON": (size) => `\`\`\`toon\n${numbered(size, (index) => `k${index}${pad}: \`\`\``)}\n\`\`\``,
};

const handoff: Handoff = {
  task_id: "t",
  from_model: "manager",
  to_model: "elsewhere",
  objective: "o",
  scope: "misc",
  constraints: ["c"],
  current_state: "s",
  artifact_refs: ["r"],
  expected_output: {},
  acceptance_criteria: ["a"],
  risks: ["none"],
  fallback_triggers: ["none"],
  conf: 0.9,
  assumptions_made: ["a"],
  open_questions: ["none"],
  failed_checks: ["none"],
};
const policies = (["substring", "boundary"] as const).map((words) => ({
  ...defaultPolicy,
  routing: { decision_rules: ["billing_desk -> pay => fin", "ledger => fin"] },
  words,
}));
const fields: Record<string, (size: number) => Handoff> = {
  "route: long objective": (size) => ({ ...handoff, objective: filled("a ", size) }),
  "route: almost words": (size) => ({ ...handoff, objective: filled("Securit implemen data  los ", size) }),
  "route: separators": (size) => ({ ...handoff, objective: `data${filled("-_ ", size)}` }),
  "route: phrase starts": (size) => ({ ...handoff, objective: filled("data - ", size) }),
  "route: upper case": (size) => ({ ...handoff, scope: filled("ABC É ", size) }),
  "route: blanks": (size) => ({ ...handoff, to_model: `x${filled("\u3000", size)}`, scope: `${filled(" ", size)}x` }),
  "route: many refs": (size) => ({ ...handoff, artifact_refs: Array.from({ length: size / 8 }, () => "src/a.ts") }),
  "route: many risks": (size) => ({ ...handoff, risks: Array.from({ length: size / 8 }, () => "data lo") }),
};

const works: Record<string, (size: number) => () => void> = {};
for (const [kind, make] of Object.entries(texts)) {
  works[kind] = (size) => {
    const text = make(size);
    return () => {
      readHandoff(text);
      readPolicy(text);
    };
  };
}
for (const [kind, make] of Object.entries(fields)) {
  works[kind] = (size) => {
    const given = make(size);
    return () => policies.forEach((policy) => route(policy, given));
  };
}

const exponents: Record<string, number> = {};
let slowest = { kind: "", milliseconds: 0 };
for (const [kind, prepare] of Object.entries(works)) {
  const points = sizes.map((size) => {
    const work = prepare(size);
    let cost = Infinity;
    for (let turn = 0; turn < rounds(size); turn += 1) {
      globalThis.gc?.();
      cost = Math.min(cost, cpuOf(work));
    }
    if (cost > slowest.milliseconds) slowest = { kind, milliseconds: round(cost, 0) };
    return { size, cost: Math.max(cost, 0.001) };
  });
  exponents[kind] = growthExponent(points);
  if (process.argv.includes("--all")) {
    console.error(kind, points.map(({ cost }) => round(cost, 2)).join(" "), round(exponents[kind]));
  }
}
const ranked = Object.entries(exponents).toSorted(([, a], [, b]) => b - a);
const [worst = "", ratio = Infinity] = ranked[0] ?? [];
report({
  name: "adversarial-routing",
  ratio,
  target: 1.15,
  figures: {
    worst,
    next: ranked.slice(1, 3).map(([kind, value]) => `${kind} ${round(value)}`),
    kinds: ranked.length,
    slowest,
  },
});
