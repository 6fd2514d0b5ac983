import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";

import fc from "../../../test/support/properties.ts";

import { captureOutput } from "../../../test/support/captured-output.ts";
import { note, type Screen, screenOver, writeExactLine, writeLine } from "./screen.ts";
import { painted } from "./style.ts";

function screen({ isTTY, columns = 0, rows = 0 }: { isTTY: boolean; columns?: number; rows?: number }): {
  readonly screen: Screen;
  readonly written: string[];
} {
  const written: string[] = [];
  const stream = { isTTY, columns, rows, write: (text: string | Uint8Array) => written.push(String(text)) > 0 };
  return { screen: screenOver(() => stream), written };
}

// oxlint-disable-next-line no-control-regex -- control characters are what this is about
const own = /\u001b\[(?:0|1|2|31|32|33|34)m/g;
const forbidden =
  // oxlint-disable-next-line no-control-regex -- control characters are what this is about
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]|\r(?!\n)/;

const foreign = fc.string({
  unit: fc.oneof(
    fc.constantFrom("\u001b[31m", "\u001b[0m", ...Array.from("\u001b\u009b\u0007\r\n\u202e\u2028[];m0")),
    fc.string({ unit: "binary", maxLength: 1 }),
  ),
});

test("whatever is written, the terminal obeys our colours and nothing else", () => {
  fc.assert(
    fc.property(foreign, foreign, (one, other) => {
      const { screen: terminal, written } = screen({ isTTY: true });
      terminal.write(`${one}${painted("red", other)}${one}`);
      const [text = ""] = written;
      assert.equal(text.match(own)?.length, 2, text);
      assert.doesNotMatch(text.replaceAll(own, ""), forbidden);
    }),
  );
});

test("JSON keeps its value", () => {
  fc.assert(
    fc.property(foreign, (text) => {
      const { screen: pipe, written } = screen({ isTTY: false });
      pipe.write(JSON.stringify({ text }));
      assert.deepEqual(JSON.parse(written[0] ?? ""), { text });
      assert.doesNotMatch(written[0] ?? "", forbidden);
    }),
  );
});

test("what is not a terminal gets no colours", () => {
  const { screen: pipe, written } = screen({ isTTY: false });
  pipe.write(painted("bold", "a\u001b[1m"));
  assert.deepEqual(written, ["a\\u001b[1m"]);
});

test("a terminal that reports no size counts as 80 by 24", () => {
  const { screen: unsized } = screen({ isTTY: true });
  const { screen: sized } = screen({ isTTY: true, columns: 120, rows: 40 });
  assert.deepEqual([unsized.columns, unsized.rows, sized.columns, sized.rows], [80, 24, 120, 40]);
});

test("only an exact line reaches a file as it is", async (t: TestContext) => {
  const captured = captureOutput(t);
  await writeLine("\u001b[2J");
  await writeExactLine("\u001b[2J");
  note("\u009b2J");
  assert.deepEqual(captured, { out: "\\u001b[2J\n\u001b[2J\n", err: "\\u009b2J\n" });
});
