// Keeps the beginning and the end of an output of any length in a fixed amount of memory.

interface KeptOutput {
  add(chunk: Uint8Array): void;
  /** The kept text; no character is cut where something was left out. */
  text(): string;
  readonly truncated: boolean;
}

export function keptOutput(limit: number): KeptOutput {
  const headLimit = Math.ceil(limit / 2);
  const tailLimit = limit - headLimit;
  let head = Buffer.alloc(0);
  let headLength = 0;
  /** A ring buffer: the next byte is written at `tailTotal` modulo its size. */
  let ring = Buffer.alloc(0);
  let tailTotal = 0;

  const addToTail = (chunk: Uint8Array): void => {
    const kept = chunk.subarray(Math.max(0, chunk.length - tailLimit));
    const needed = Math.min(tailLimit, tailTotal + kept.length);
    // While the ring still grows it has not wrapped, so its bytes are in order.
    if (ring.length < needed) ring = grown(ring, needed, tailLimit);
    const end = tailTotal + chunk.length;
    // The ring has its full size before it first wraps, so until then this is the count itself.
    const at = (end - kept.length) % tailLimit;
    const first = Math.min(kept.length, tailLimit - at);
    ring.set(kept.subarray(0, first), at);
    ring.set(kept.subarray(first), 0);
    tailTotal = end;
  };

  const tail = (): Buffer => {
    if (tailTotal <= tailLimit) return ring.subarray(0, tailTotal);
    const at = tailTotal % tailLimit;
    return Buffer.concat([ring.subarray(at), ring.subarray(0, at)]);
  };

  return {
    add(chunk) {
      const toHead = chunk.subarray(0, headLimit - headLength);
      if (toHead.length > 0) {
        if (head.length < headLength + toHead.length) head = grown(head, headLength + toHead.length, headLimit);
        head.set(toHead, headLength);
        headLength += toHead.length;
      }
      if (toHead.length < chunk.length) addToTail(chunk.subarray(toHead.length));
    },
    text() {
      const start = head.subarray(0, headLength);
      const end = tail();
      if (tailTotal <= tailLimit) return Buffer.concat([start, end]).toString("utf8");
      const before = start.subarray(0, wholeEnd(start));
      const after = end.subarray(wholeStart(end));
      const leftOut = headLength + tailTotal - before.length - after.length;
      return `${before.toString("utf8")}\n[… ${leftOut} bytes left out …]\n${after.toString("utf8")}`;
    },
    get truncated() {
      return tailTotal > tailLimit;
    },
  };
}

function grown(buffer: Buffer, needed: number, limit: number): Buffer<ArrayBuffer> {
  const larger = Buffer.alloc(Math.min(limit, Math.max(needed, buffer.length * 2)));
  buffer.copy(larger);
  return larger;
}

const isContinuation = (byte: number): boolean => (byte & 0b1100_0000) === 0b1000_0000;

/** Where the last character begins if it is cut; else the end. A character has at most four bytes. */
function wholeEnd(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(4, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (isContinuation(byte)) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

/** Where the first whole character begins. */
function wholeStart(bytes: Uint8Array): number {
  const begin = bytes.subarray(0, 4).findIndex((byte) => !isContinuation(byte));
  return begin === -1 ? 0 : begin;
}
