// A number that tells whether a recorded operation has the same input as before. It is not cryptographic.

/** 0 means that there is no input. Two 32-bit hashes of the JSON text, combined into 52 bits, which SQLite and JavaScript hold exactly. */
export function fingerprint(input: unknown): number {
  if (input === undefined) return 0;
  const text = JSON.stringify(input) ?? "";
  let a = 0xdeadbeef;
  let b = 0x41c6ce57;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    a = Math.imul(a ^ code, 2_654_435_761);
    b = Math.imul(b ^ code, 1_597_334_677);
  }
  a = Math.imul(a ^ (a >>> 16), 2_246_822_507) ^ Math.imul(b ^ (b >>> 13), 3_266_489_909);
  b = Math.imul(b ^ (b >>> 16), 2_246_822_507) ^ Math.imul(a ^ (a >>> 13), 3_266_489_909);
  return (b >>> 12) * 4_294_967_296 + (a >>> 0) + 1;
}
