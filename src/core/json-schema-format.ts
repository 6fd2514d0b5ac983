// The formats of JSON Schema that are checked. Formats that are not known here say nothing, as the standard has it.

import { z } from "zod";

/** The patterns behind the formats may need the square of the length, so longer texts fit no format. */
const longest = 4_096;
/** The pattern for emoji doubles its work with some characters. */
const longestEmoji = 32;

const formats: Readonly<Record<string, () => z.ZodType>> = {
  email: () => z.email(),
  uri: () => z.url(),
  "uri-reference": () => z.url(),
  uuid: () => z.uuid(),
  guid: () => z.uuid(),
  "date-time": () => z.iso.datetime({ offset: true }),
  date: () => z.iso.date(),
  time: () => z.string().regex(/^(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/),
  duration: () => z.iso.duration(),
  hostname: () => z.hostname(),
  ipv4: () => z.ipv4(),
  ipv6: () => z.ipv6(),
  mac: () => z.mac(),
  cidr: () => z.cidrv4(),
  "cidr-v6": () => z.cidrv6(),
  base64: () => z.base64(),
  base64url: () => z.base64url(),
  e164: () => z.e164(),
  credit_card: () => z.creditCard(),
  iban: () => z.iban(),
  jwt: () => z.jwt(),
  emoji: () => z.emoji(),
  nanoid: () => z.nanoid(),
  cuid: () => z.cuid(),
  cuid2: () => z.cuid2(),
  ulid: () => z.ulid(),
  xid: () => z.xid(),
  ksuid: () => z.ksuid(),
};

/** Base64 often holds whole files, and its patterns are linear. */
const anyLength = new Set(["base64", "base64url"]);

/** Undefined for a format that is not known. */
export function formatCheck(name: string): ((text: string) => boolean) | undefined {
  const schema = Object.hasOwn(formats, name) ? formats[name]?.() : undefined;
  if (schema === undefined) return undefined;
  const most = name === "emoji" ? longestEmoji : longest;
  return (text) => (text.length <= most || anyLength.has(name)) && schema.safeParse(text).success;
}
