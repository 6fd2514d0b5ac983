// Which addresses count as one caller: an IPv4 address alone, and all addresses of an IPv6 network, since one host has them all.

/** The text is an address as Node writes it. */
export function addressGroup(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  if (!address.includes(":")) return address;
  const [first = "", rest] = address.replace(/%.*$/, "").split("::");
  const head = first === "" ? [] : first.split(":");
  const tail = rest === undefined || rest === "" ? [] : rest.split(":");
  const zeros = Array.from({ length: Math.max(0, 8 - head.length - tail.length) }, () => "0");
  return [...head, ...(rest === undefined ? [] : zeros), ...tail].slice(0, 4).join(":");
}
