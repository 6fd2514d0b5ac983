// What the worst text an operator or worker can send costs: frames with the length limit lifted, to see how reading grows;
// the most expensive frames that are accepted; and texts past their limits, to see that refusing them does not grow.
import { readClientFrame } from "../src/protocol/operator/read-client-frame.ts";
import { verifyToken } from "../src/protocol/operator/capability-token.ts";
import { generateKey, importKey } from "../src/protocol/operator/token-key.ts";
import { bestOf, growthExponent, report, round } from "./measure.ts";

const kib = 1024;
const sizes = [256, 512, 1024, 2048, 4096, 8192].map((size) => size * kib);
const largest = 8192 * kib;
const rounds = 4;
/** Every point reads about this much text, so that small sizes take as long to measure as large ones. */
const textPerPoint = largest;
const valueLimit = 65_536;

function inAnswer(value: string): string {
  return `{"type":"answer","req_id":"r","value":${value}}`;
}

function repeatedTo(size: number, unit: string): string {
  return unit.repeat(Math.ceil(size / unit.length)).slice(0, size);
}

function keys(size: number, key: (at: number) => string): string {
  const parts: string[] = [];
  for (let length = 0, at = 0; length < size; at += 1) {
    const part = `"${key(at)}":0`;
    parts.push(part);
    length += part.length + 1;
  }
  return inAnswer(`{${parts.join()}}`);
}

const shapes: Record<string, (size: number) => string> = {
  "open braces": (size) => repeatedTo(size, "{"),
  "open braces in keys": (size) => repeatedTo(size, '{"a":'),
  "balanced brackets": (size) => inAnswer("[".repeat(size / 2) + "]".repeat(size / 2)),
  "bracket pairs": (size) => inAnswer(`[${repeatedTo(size, "[],")}0]`),
  "nesting at the limit": (size) => inAnswer(`[${`${"[".repeat(120)}${"]".repeat(120)},`.repeat(size / 241)}0]`),
  "open string": (size) => inAnswer(`"${"a".repeat(size)}`),
  quotes: (size) => repeatedTo(size, '"'),
  backslashes: (size) => inAnswer(`"${repeatedTo(size, "\\\\")}"`),
  "unicode escapes": (size) => inAnswer(`"${"\\u0000".repeat(size / 6)}"`),
  "long number": (size) => inAnswer("1".repeat(size)),
  "long fraction": (size) => inAnswer(`0.${"0".repeat(size)}1`),
  "long req_id": (size) => `{"type":"answer","req_id":"${"r".repeat(size)}","value":1}`,
  "long unknown type": (size) => `{"type":"${"t".repeat(size)}","req_id":"r"}`,
  "distinct keys": (size) => keys(size, (at) => `k${at}`),
  "sparse integer keys": (size) => keys(size, sparse),
  "repeated key": (size) => `{${'"type":0,'.repeat(size / 9)}"type":"answer","req_id":"r","value":1}`,
  "white space": (size) => `${" ".repeat(size)}{}`,
  numbers: (size) => inAnswer(`[${repeatedTo(size, "1,")}0]`),
};

interface Growth {
  readonly exponent: number;
  readonly msAtLargest: number;
}

function growthOf(shape: (size: number) => string): Growth {
  const points = sizes.map((size) => {
    // Flattened first: a rope would be measured as the cost of making it one string.
    const text = Buffer.from(shape(size)).toString();
    const times = Math.max(1, Math.round(textPerPoint / size));
    const read = (): void => repeat(times, () => readClientFrame(text, { maxLength: Infinity }));
    return { size, cost: Math.max(bestOf(rounds, { read }).read, 0.001) / times };
  });
  return { exponent: growthExponent(points), msAtLargest: points.at(-1)?.cost ?? 0 };
}

/** CPU milliseconds of frames at the limit of values, and of JSON.parse alone on the same text. */
function atTheLimit(): Record<string, { read: number; parse: number }> {
  const tower = `${"[".repeat(120)}${"]".repeat(120)}`;
  const texts = {
    "distinct keys": inAnswer(`{${Array.from({ length: valueLimit - 5 }, (_, at) => `"k${at}":0`).join()}}`),
    "sparse integer keys": inAnswer(
      `{${Array.from({ length: valueLimit - 5 }, (_, at) => `"${sparse(at)}":0`).join()}}`,
    ),
    "empty lists": inAnswer(
      `[${Array(valueLimit / 2 - 5)
        .fill("[]")
        .join()}]`,
    ),
    "towers of lists": inAnswer(
      `[${Array(Math.floor(valueLimit / 122))
        .fill(tower)
        .join()}]`,
    ),
  };
  const found: Record<string, { read: number; parse: number }> = {};
  for (const [name, text] of Object.entries(texts)) {
    if (!readClientFrame(text).ok) throw new Error(`${name}: this frame was meant to be accepted`);
    const times = 10;
    const best = bestOf(rounds, {
      read: () => repeat(times, () => readClientFrame(text)),
      parse: () => repeat(times, () => JSON.parse(text)),
    });
    found[name] = { read: round(best.read / times, 1), parse: round(best.parse / times, 1) };
  }
  return found;
}

function repeat(times: number, work: () => unknown): void {
  for (let at = 0; at < times; at += 1) work();
}

function sparse(at: number): string {
  return String((at * 1_000_003) % 4_294_967_291);
}

/** Microseconds per refusal of texts past their limit, at the smallest and at the largest size. */
async function refusals(): Promise<Record<string, [number, number]>> {
  const key = await importKey(generateKey());
  const demand = { now: 0, verb: "prompt", task: "t", attempt: 1 } as const;
  const texts = {
    token: (size: number) => `tt1.${"A".repeat(size)}.${"A".repeat(43)}`,
    "token of dots": (size: number) => ".".repeat(size),
    frame: (size: number) => inAnswer(`"${"a".repeat(8 * size)}"`),
  };
  const found: Record<string, [number, number]> = {};
  for (const [name, text] of Object.entries(texts)) {
    const costs: number[] = [];
    for (const size of [256 * kib, largest]) {
      const flat = Buffer.from(text(size)).toString();
      costs.push(
        await bestMicroseconds(async () => {
          if (name === "frame") readClientFrame(flat);
          else await verifyToken(flat, key, demand);
        }),
      );
    }
    found[name] = [round(costs[0] ?? 0, 2), round(costs[1] ?? 0, 2)];
  }
  const inside = `tt1.${"A".repeat(4000)}.${"A".repeat(43)}`;
  const worst = await bestMicroseconds(() => verifyToken(inside, key, demand));
  found["longest token that is read"] = [round(worst, 2), round(worst, 2)];
  return found;
}

async function bestMicroseconds(work: () => Promise<unknown>): Promise<number> {
  const times = 2000;
  let best = Infinity;
  for (let turn = 0; turn <= rounds; turn += 1) {
    const before = process.cpuUsage();
    for (let at = 0; at < times; at += 1) await work();
    const spent = process.cpuUsage(before);
    if (turn > 0) best = Math.min(best, (spent.user + spent.system) / times);
  }
  return best;
}

const growth = Object.entries(shapes).map(([name, shape]) => ({ name, ...growthOf(shape) }));
const worst = growth.reduce((left, right) => (right.exponent > left.exponent ? right : left));
report({
  name: "adversarial-frames",
  ratio: worst.exponent,
  target: 1.15,
  figures: {
    worst: worst.name,
    exponents: Object.fromEntries(growth.map(({ name, exponent }) => [name, round(exponent)])),
    ms_at_8_mib: Object.fromEntries(growth.map(({ name, msAtLargest }) => [name, round(msAtLargest)])),
    ms_at_65536_values: atTheLimit(),
    refusal_us_at_256_kib_and_8_mib: await refusals(),
  },
});
