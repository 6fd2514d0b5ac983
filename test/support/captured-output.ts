// What a test writes to standard output and standard error.

import type { TestContext } from "node:test";

export interface Captured {
  out: string;
  err: string;
}

/** Captures text from now until the test ends. Bytes pass through, since the test runner reports with them. */
export function captureOutput(t: TestContext): Captured {
  const captured: Captured = { out: "", err: "" };
  for (const [name, stream] of [
    ["out", process.stdout],
    ["err", process.stderr],
  ] as const) {
    const write = stream.write.bind(stream);
    t.mock.method(stream, "write", (chunk: string | Uint8Array, ...rest: never[]) => {
      if (typeof chunk !== "string") return write(chunk, ...rest);
      captured[name] += chunk;
      return true;
    });
  }
  return captured;
}
