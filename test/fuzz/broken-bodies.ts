// Request bodies that are broken whatever their schema: bytes, encodings, depths, sizes, content types.

import type { Chance } from "../support/seeded-random.ts";

export interface Damaged {
  readonly body: Buffer;
  readonly headers: Readonly<Record<string, string>>;
}

/** The type stays what it was unless that is the damage. */
export function damagedBody(chance: Chance, body: Buffer = Buffer.from("{}")): Damaged {
  const kept = (made: Buffer | string): Damaged => ({ body: Buffer.from(made), headers: {} });
  const typed = (type: string): Damaged => ({ body, headers: { "content-type": type } });
  switch (chance.below(14)) {
    case 0:
      return kept(body.subarray(0, chance.below(body.length + 1)));
    case 1:
      return kept(flipped(chance, body));
    case 2:
      return kept(Buffer.concat([body, Buffer.from([0xff, 0xfe, 0xc0, 0x80])]));
    case 3:
      return kept(Buffer.from(`{"text":"\xff\xfe"}`, "latin1"));
    case 4:
      return kept(`${"[".repeat(50_000)}${"]".repeat(50_000)}`);
    case 5:
      return kept(`${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`);
    case 6:
      return kept(`{"text":"${"x".repeat(chance.pick([70_000, 1_100_000, 2_200_000, 9_000_000]))}"}`);
    case 7:
      return kept(`{"a":1,"a":2,"__proto__":{"x":1},"constructor":{"prototype":{"x":1}}}`);
    case 8:
      return kept(
        `{"text":${chance.pick(["1e999", "-1e999", "01", "+1", "NaN", "Infinity", "0x1", "1n", "123456789012345678901234567890"])}}`,
      );
    case 9:
      return kept(
        chance.pick(["", " ", "null", "[]", "1", '"x"', "{", "}", "\ufeff{}", "{}{}", "{}\0", "'x'", "{a:1}"]),
      );
    case 10:
      return typed(chance.pick(["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]));
    case 11:
      return typed(
        chance.pick([
          "application/json; charset=utf-16",
          "application/json;;",
          "APPLICATION/JSON",
          "application/jsonp",
          "*/*",
        ]),
      );
    case 12:
      return { body, headers: { "content-encoding": chance.pick(["gzip", "br", "deflate", "identity"]) } };
    default:
      return kept(`[${Array.from({ length: 20_000 }, (_, at) => at).join(",")}]`);
  }
}

function flipped(chance: Chance, body: Buffer): Buffer {
  const copy = Buffer.from(body);
  if (copy.length > 0) copy[chance.below(copy.length)] = chance.below(256);
  return copy;
}
