// Where an IP address leads: to this machine, into a private network, to the public one, or nowhere that a server can be.

export type AddressZone = "this machine" | "private" | "public" | "unusable";

/** The first so many bits of an address. */
type Range = readonly [begin: readonly number[], bits: number, zone: AddressZone];

/** The first that holds decides. What a metadata service of a cloud answers at is link-local, and so no server. */
const ranges4: readonly Range[] = [
  [[127], 8, "this machine"],
  [[10], 8, "private"],
  [[172, 16], 12, "private"],
  [[192, 168], 16, "private"],
  [[100, 64], 10, "private"],
  [[198, 18], 15, "private"],
  [[0], 8, "unusable"],
  [[169, 254], 16, "unusable"],
  [[192, 0, 0], 24, "unusable"],
  [[192, 0, 2], 24, "unusable"],
  [[192, 88, 99], 24, "unusable"],
  [[198, 51, 100], 24, "unusable"],
  [[203, 0, 113], 24, "unusable"],
  // Multicast, what is reserved, and broadcast.
  [[224], 3, "unusable"],
];

const ranges6: readonly Range[] = [
  [[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], 128, "this machine"],
  [[0xfc], 7, "private"],
  [[0xfe, 0xc0], 10, "private"],
  [[0x00, 0x64, 0xff, 0x9b, 0x00, 0x01], 48, "private"],
  [[0x20, 0x01, 0x00], 23, "unusable"],
  [[0x20, 0x01, 0x0d, 0xb8], 32, "unusable"],
  [[0x3f, 0xff, 0x00], 20, "unusable"],
  [[0x20], 3, "public"],
];

/** Addresses of version 6 that stand for one of version 4: the prefix, and at which byte that address begins. */
const carriers: readonly (readonly [begin: readonly number[], bits: number, at: number])[] = [
  [[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff], 96, 12],
  [[0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0], 96, 12],
  [[0x00, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0], 96, 12],
  [[0x20, 0x02], 16, 2],
];

/** What is no address is `unusable`, and so is one that names a network card. */
export function addressZone(address: string): AddressZone {
  const bytes = bytes4(address) ?? bytes6(address);
  if (bytes === undefined) return "unusable";
  if (bytes.length === 4) return zoneIn(ranges4, bytes) ?? "public";
  const carrier = carriers.find(([begin, bits]) => begins(bytes, begin, bits));
  if (carrier === undefined) return zoneIn(ranges6, bytes) ?? "unusable";
  const [, , at] = carrier;
  return zoneIn(ranges4, bytes.slice(at, at + 4)) ?? "public";
}

/**
 * The zone of the host of a URL when the host itself tells: an address, or a name of this machine. Undefined for any other name,
 * which can lead anywhere.
 */
export function zoneOfHost(hostname: string): AddressZone | undefined {
  if (isLocalName(hostname)) return "this machine";
  const address = addressOfHost(hostname);
  return address === undefined ? undefined : addressZone(address);
}

/** The address that the host of a URL is, without brackets; undefined for a name. */
export function addressOfHost(hostname: string): string | undefined {
  if (hostname.startsWith("[")) return hostname.slice(1, -1);
  return bytes4(hostname) === undefined ? undefined : hostname;
}

function isLocalName(hostname: string): boolean {
  return /^(?:.*\.)?localhost\.?$/i.test(hostname);
}

function zoneIn(ranges: readonly Range[], bytes: readonly number[]): AddressZone | undefined {
  return ranges.find(([begin, bits]) => begins(bytes, begin, bits))?.[2];
}

function begins(bytes: readonly number[], begin: readonly number[], bits: number): boolean {
  for (let at = 0; at * 8 < bits; at += 1) {
    const mask = 0xff & (0xff << Math.max(0, 8 - (bits - at * 8)));
    if (((bytes[at] ?? 0) & mask) !== ((begin[at] ?? 0) & mask)) return false;
  }
  return true;
}

/** Only the usual form counts: four numbers without zeros in front, which some programs read as octal. */
function bytes4(address: string): number[] | undefined {
  if (!/^(?:(?:0|[1-9]\d{0,2})\.){3}(?:0|[1-9]\d{0,2})$/.test(address)) return undefined;
  const bytes = address.split(".").map(Number);
  return bytes.every((byte) => byte <= 255) ? bytes : undefined;
}

/** The URL parser knows every form of such an address, and writes the last four bytes as hexadecimal groups, too. */
function bytes6(address: string): number[] | undefined {
  const text = `http://[${address}]/`;
  if (!/^[0-9a-f:.]+$/i.test(address) || !URL.canParse(text)) return undefined;
  const [front = "", back] = new URL(text).hostname.slice(1, -1).split("::");
  const [first, last] = [front, back ?? ""].map((part) => (part === "" ? [] : part.split(":")));
  const [head, tail] = [first ?? [], last ?? []];
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => "0");
  return [...head, ...zeros, ...tail].flatMap((group) => {
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 0xff];
  });
}
