// Lists of values in the binary form in which PostgreSQL takes them: neither side has to write or read them as text.

type Value = string | number | null;

const types = {
  bigint: { oid: 20, bytes: 8 },
  int: { oid: 23, bytes: 4 },
  text: { oid: 25, bytes: 0 },
} as const;

/** Whole numbers have to be safe integers, and those of an `int` have to fit in 32 bits. */
export function binaryArray(type: keyof typeof types, values: readonly Value[]): Buffer {
  const { oid } = types[type];
  const buffer = Buffer.allocUnsafe(sizeOf(type, values));
  // One dimension, or none when there is nothing in it; whether there are nulls; what it is a list of.
  let at = buffer.writeInt32BE(values.length === 0 ? 0 : 1, 0);
  at = buffer.writeInt32BE(values.includes(null) ? 1 : 0, at);
  at = buffer.writeInt32BE(oid, at);
  if (values.length === 0) return buffer;
  // How many, and the number of the first.
  at = buffer.writeInt32BE(values.length, at);
  at = buffer.writeInt32BE(1, at);
  for (const value of values) {
    if (value === null) at = buffer.writeInt32BE(-1, at);
    else if (typeof value === "string") {
      const length = buffer.write(value, at + 4);
      buffer.writeInt32BE(length, at);
      at += 4 + length;
    } else at = writeNumber(buffer, type, at, value);
  }
  return buffer;
}

function sizeOf(type: keyof typeof types, values: readonly Value[]): number {
  const { bytes } = types[type];
  let size = values.length === 0 ? 12 : 20;
  for (const value of values) {
    size += 4;
    if (value !== null) size += typeof value === "string" ? Buffer.byteLength(value) : bytes;
  }
  return size;
}

function writeNumber(buffer: Buffer, type: keyof typeof types, at: number, value: number): number {
  if (type === "int") return buffer.writeInt32BE(value, buffer.writeInt32BE(4, at));
  const high = Math.floor(value / 2 ** 32);
  const next = buffer.writeInt32BE(high, buffer.writeInt32BE(8, at));
  return buffer.writeUInt32BE(value - high * 2 ** 32, next);
}
