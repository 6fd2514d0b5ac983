// How the cost of reading a decision grows with hostile replies; the worst kind of reply counts.
import { parseDecision } from "../src/protocol/decision/parse-decision.ts";
import { bestOf, growthExponent, report, round } from "./measure.ts";

const repeated = (unit: string) => (size: number) => unit.repeat(Math.ceil(size / unit.length));
const nested = (open: string, core: string, close: string) => (size: number) => {
  const levels = Math.ceil(size / (open.length + close.length));
  return open.repeat(levels) + core + close.repeat(levels);
};
const numbered = (unit: (index: number) => string) => (size: number) =>
  Array.from({ length: Math.ceil(size / unit(0).length) }, (_, index) => unit(index)).join("");

const respond = '{"action":"respond","message":"m"}';
const kinds: Readonly<Record<string, (size: number) => string>> = {
  "unclosed braces": repeated("{"),
  "unclosed objects": repeated('{"a":'),
  "unclosed objects in arrays": repeated('{"a":['),
  "unclosed objects before an action": (size) => repeated('{"a":')(size) + respond,
  "brace, quote": repeated('{"'),
  "brace, quote, comma": repeated('{","'),
  "braces in opposite quotes": repeated('{":":"'),
  quotes: (size) => `{"a":${repeated('"')(size)}`,
  escapes: (size) => `{"a":"${repeated('\\"{')(size)}`,
  backticks: repeated("`"),
  "json fences": repeated("```json\n{"),
  blanks: (size) => `{,${repeated(" ")(size)}x`,
  digits: (size) => `{"a":${repeated("1")(size)}`,
  "nested objects": nested('{"a":', "1", "}"),
  "nested wrappers around an action": nested('{"a":', respond, "}"),
  "nested lists around an action": (size) => `{"a":${nested("[", respond, "]")(size)}}`,
  "actions in actions": nested('{"action":"respond","message":"m","a":', "1", "}"),
  "actions in actions, twice": (size) => `[${nested('{"action":"respond","a":', "1", "}")(size / 2).repeat(2)}]`,
  "small objects": repeated("{}"),
  "prose in braces": repeated("{see notes} "),
  "copies of one action": repeated(respond),
  "different actions": numbered((index) => `{"action":"respond","message":"m${index}"}`),
  "wrapped different actions": numbered((index) => `{"a":{"action":"respond","message":"m${index}"}}`),
  "actions without their field": repeated('{"action":"respond"}'),
  "actions cut short": repeated('{"action":"delegate",'),
  "malformed tasks": (size) => `{"action":"delegate","tasks":[${repeated('{"workdir":7},')(size)}{}]}`,
  "fields of a wrong type": (size) => {
    const task = '{"workdir":"w","prompt":"p","conf":"high"}';
    return `{"action":"delegate","tasks":[${repeated(`${task},`)(size)}${task}]}`;
  },
};

const sizes = [18, 19, 20, 21, 22, 23].map((power) => 2 ** power);
const largest = 2 ** 23;

const fits = Object.entries(kinds).map(([kind, make]) => {
  const points = sizes.map((size) => {
    const reply = make(size);
    // Small replies are read many times over, so that every point is a span the clock can resolve.
    const times = Math.max(1, 2 ** 20 / size);
    const { cost } = bestOf(size === largest ? 2 : 3, {
      cost: () => {
        for (let time = 0; time < times; time += 1) parseDecision(reply);
      },
    });
    return { size: reply.length, cost: cost / times };
  });
  return { kind, exponent: growthExponent(points), slowest: points.at(-1)?.cost ?? 0 };
});

const worst = fits.reduce((a, b) => (b.exponent > a.exponent ? b : a));
const slowest = fits.reduce((a, b) => (b.slowest > a.slowest ? b : a));
report({
  name: "adversarial-decision",
  ratio: worst.exponent,
  target: 1.15,
  figures: {
    worst: worst.kind,
    slowest: { kind: slowest.kind, cpu_ms_8_mib: round(slowest.slowest, 0) },
    exponents: Object.fromEntries(fits.map(({ kind, exponent }) => [kind, round(exponent, 2)])),
  },
});
