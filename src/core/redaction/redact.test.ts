import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "../../../test/support/properties.ts";

import { redactor } from "./redact.ts";

const key = "sk-test-Zq81mPw0Rv5T";
const hex32 = "0123456789abcdef0123456789abcdef";
const signature = "A".repeat(43);

test("a known value is replaced by its name wherever it stands, and a text without one is the same text", () => {
  const redact = redactor([{ name: "OPENAI_API_KEY", value: key }]);
  assert.equal(redact(`a ${key}, b ${key}`), "a [redacted:OPENAI_API_KEY], b [redacted:OPENAI_API_KEY]");
  assert.equal(redact("nothing here"), "nothing here");
  assert.equal(redact(JSON.stringify({ [key]: [key] })), '{"[redacted:OPENAI_API_KEY]":["[redacted:OPENAI_API_KEY]"]}');
});

test("a value is found escaped in JSON, in JSON inside JSON, in base64 at any offset and in a URL", () => {
  const value = 'p"w\\1\n2é/<x> &?';
  const redact = redactor([{ name: "PW", value }]);
  const once = JSON.stringify(value);
  const twice = JSON.stringify(once);
  const bytes = (text: string) => Buffer.from(text, "utf8");
  const texts = [
    `cut off {"a":${once}`,
    `cut off {"a":${twice}`,
    `cut off {"a":${JSON.stringify(twice)}`,
    `from python ${once.replaceAll("é", String.raw`\u00e9`)}`,
    `from php ${once.replaceAll("/", String.raw`\/`)}`,
    `GET /?q=${encodeURIComponent(value)}`,
    `GET /?q=${encodeURIComponent(value).toLowerCase()}`,
    `form ${new URLSearchParams({ q: value }).toString()}`,
    ...["", "u", "us", "user:"].flatMap((before) => [
      `Basic ${bytes(`${before}${value}`).toString("base64")}`,
      `Basic ${bytes(`${before}${value}, more`).toString("base64url")}`,
    ]),
  ];
  for (const text of texts) assert.match(redact(text), /\[redacted:PW\]/, text);
});

test("whatever has the form of a secret of our own is replaced by what it is", () => {
  const redact = redactor([]);
  const forms: readonly (readonly [string, string])[] = [
    [`tk_${signature}`, "api key"],
    [`tw_${signature}`, "page token"],
    [`tc_${signature}`, "sign-in code"],
    [`wh-${hex32}`, "worker handle"],
    [`tt1.eyJ0YXNrIjoiYSJ9.${signature}`, "worker token"],
    [`ot-${hex32}`, "operator token"],
    [`ti-${hex32}`, "ticket"],
  ];
  for (const [secret, name] of forms) {
    const label = `[redacted:${name}]`;
    assert.equal(redact(secret), label);
    assert.equal(redact(`Bearer ${secret}.`), `Bearer ${label}.`);
    assert.equal(redact(JSON.stringify(`a\n${secret}`)), JSON.stringify(`a\n${label}`));
    assert.equal(redact(String.raw`cut \n${secret}`), String.raw`cut \n${label}`);
    assert.equal(redact(`?key%3D${secret}`), `?key%3D${label}`);
  }
  const others = [`snapshot-${hex32}`, `multi-${hex32}`, "tk_short", "ot-0123", `gtk_${"cell_renderer_".repeat(4)}`];
  for (const other of others) assert.equal(redact(other), other);
  assert.equal(redact(`gtk_a-wh-${hex32}_and_much_more`), "gtk_a-[redacted:worker handle]_and_much_more");
  assert.equal(redact(`wh-${hex32}`.repeat(9)), "[redacted:worker handle]".repeat(9));
});

test("of secrets that overlap nothing is left over, and the longest gives its name", () => {
  const redact = redactor([
    { name: "SHORT", value: "abcdefgh" },
    { name: "LONG", value: "abcdefghijklmnop" },
    { name: "NEXT", value: "mnopqrstuvwxyz" },
  ]);
  assert.equal(redact("abcdefghijklmnop"), "[redacted:LONG]");
  assert.equal(redact("-abcdefghijk"), "-[redacted:SHORT]ijk");
  assert.equal(redact("abcdefghijklmnopqrstuvwxyz!"), "[redacted:LONG]!");
});

test("short values are no secrets, and neither is what stands in a secret's place", () => {
  const redact = redactor([
    { name: "A", value: "1234567" },
    { name: "B", value: "   1234567   " },
    { name: "C", value: "redacted" },
  ]);
  for (const text of ["1234567", "   1234567   ", "redacted", "[redacted:A]"]) assert.equal(redact(text), text);
});

test("a name that would tell a secret is left out", () => {
  const redact = redactor([
    { name: "MY_PASSWORD", value: "qwertyuiop" },
    { name: "OTHER", value: "MY_PASSWORD" },
  ]);
  assert.equal(redact("a qwertyuiop"), "a [redacted]");
  assert.equal(redact("a MY_PASSWORD"), "a [redacted:OTHER]");
});

test("a number in JSON goes when the whole of it is a secret, and the JSON stays valid", () => {
  const redact = redactor([{ name: "PIN", value: "17000000" }]);
  assert.equal(redact('{"pin":17000000,"at":1700000012345}'), '{"pin":"[redacted:PIN]","at":1700000012345}');
});

test("an escape in JSON is never cut in two", () => {
  const redact = redactor([
    { name: "N", value: "nabcdefgh" },
    { name: "U", value: "0041bcdefgh" },
  ]);
  for (const text of ['"\\nabcdefgh"', String.raw`"\u0041bcdefgh"`]) assert.equal(redact(text), text);
});

const someText = fc.string({ unit: "binary", maxLength: 20 });
const sharp = fc.string({
  unit: fc.constantFrom('"', "\\", "\n", "n", "u", "0", "[", "]", ":", ",", "é", "a"),
  maxLength: 24,
});
const secretValue = fc
  .oneof(fc.string({ unit: "binary", minLength: 8, maxLength: 24 }), sharp, fc.stringMatching(/^[1-9]\d{7,11}$/))
  .filter((value) => value.trim().length >= 8 && !"[redacted]".includes(value.trim()) && !isInOwnLabel(value.trim()));
const cases = fc.array(secretValue, { minLength: 1, maxLength: 4 }).chain((values) => {
  const pieces = fc.oneof(fc.constantFrom(...values), someText, sharp, fc.constant(`wh-${hex32}`));
  const told = fc.array(pieces, { maxLength: 4 }).map((all) => all.join(""));
  const leaf = fc.oneof(
    told,
    fc.constantFrom(...values.filter((value) => /^\d+$/.test(value)).map(Number), 0, null, true),
  );
  const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 3 },
      leaf,
      leaf.map((value) => JSON.stringify(value)),
      fc.array(tie("tree"), { maxLength: 3 }),
      fc.dictionary(told, tie("tree"), { maxKeys: 3 }),
    ),
  }));
  return fc.tuple(fc.constant(values), tree);
});

function isInOwnLabel(value: string): boolean {
  return ["api key", "worker handle", "operator token", "ticket", "worker token"].some((name) =>
    `[redacted:${name}]`.includes(value),
  );
}

function* leaves(value: unknown): Generator<string> {
  if (Array.isArray(value)) for (const item of value) yield* leaves(item);
  else if (typeof value === "object" && value !== null) {
    for (const [name, item] of Object.entries(value)) {
      yield name;
      yield* leaves(item);
    }
  } else if (typeof value === "string") yield value;
}

test("JSON stays JSON, keeps no secret in any string or key, and a second time changes nothing", () => {
  fc.assert(
    fc.property(cases, ([values, tree]) => {
      const redact = redactor(values.map((value, index) => ({ name: `S${index}`, value })));
      const once = redact(JSON.stringify(tree));
      for (const leaf of leaves(JSON.parse(once))) {
        for (const value of values) assert.ok(!leaf.includes(value), `${JSON.stringify(value)} in ${once}`);
        assert.ok(!leaf.includes(`wh-${hex32}`) || /[A-Za-z0-9]wh-/.test(leaf), once);
      }
      assert.equal(redact(once), once);
    }),
    { numRuns: 1_500 },
  );
});

test("plain text keeps no secret, and a second time changes nothing", () => {
  fc.assert(
    fc.property(cases, fc.array(sharp, { maxLength: 3 }), ([values, tree], around) => {
      const redact = redactor(values.map((value, index) => ({ name: `S${index}`, value })));
      const once = redact(`plain ${around.join(values[0])} ${[...leaves(tree)].join("")}`);
      for (const value of values) assert.ok(!once.includes(value.trim()), once);
      assert.equal(redact(once), once);
    }),
    { numRuns: 1_000 },
  );
});

test("the time grows with the text, whatever stands in it", { timeout: 240_000 }, () => {
  const values = [key, `sk-ant-api03-${"x".repeat(80)}`, `${"ab".repeat(30)}c`];
  const redact = redactor(values.map((value, index) => ({ name: `S${index}`, value })));
  const hostile: readonly (readonly [string, string])[] = [
    ["almost a key", key.slice(0, -1)],
    ["a common beginning", "sk-ant-api03-"],
    ["a secret that repeats itself", "ab"],
    ["our own beginnings", "tt1.tk_wh-ot-ti-"],
    ["an endless token", "tt1.aaaa"],
    ["slashes and quotes", '\\\\"'],
    ["keys side by side", key],
  ];
  const seconds = (text: string): number => {
    const started = process.cpuUsage();
    redact(text);
    const { user, system } = process.cpuUsage(started);
    return (user + system) / 1_000_000;
  };
  const size = 8 * 1024 * 1024;
  hostile.forEach(([name, piece], index) => {
    const plain = piece.repeat(size / piece.length);
    const text = index % 2 === 0 ? plain : JSON.stringify([plain]);
    seconds(text.slice(0, 100_000));
    const small = Math.max(seconds(text.slice(0, size / 8)), 0.01);
    const whole = seconds(text);
    assert.ok(whole < 40 * small, `${name}: ${small} s for an eighth, ${whole} s for the whole`);
  });
});
