import assert from "node:assert/strict";
import { test } from "node:test";

import { docBlocks } from "./doc-blocks.ts";
import { missingLine, withKnownIds } from "./shown-output.ts";

const places = { home: "/tmp/h", clone: "/tmp/c" };
const compare = (shown: string, printed: string, ids = new Map<string, string>()): string | undefined =>
  missingLine(shown.split("\n"), printed.split("\n"), { ids, places });

test("ids, times, ports and paths may differ; everything else may not", () => {
  assert.equal(compare("✓ tsk_1a_2 done, 3 ms", "✓ tsk_ff_9 done, 1.2 s"), undefined);
  assert.equal(compare("at http://127.0.0.1:7878 in /home/you/x", "at http://127.0.0.1:1 in /tmp/h/x"), undefined);
  assert.equal(compare("✓ tsk_1a_2 done", "✗ tsk_ff_9 done"), "✓ tsk_1a_2 done");
});

test("an ellipsis stands for the rest of a line, or for any number of lines", () => {
  assert.equal(compare("…\nlast {…}", "one\ntwo\nlast {1}"), undefined);
  assert.equal(compare("one\n…", "one"), undefined);
  assert.match(compare("one", "one\ntwo") ?? "", /1 more lines were printed: two/);
  assert.equal(compare("one\ntwo", "one"), "two");
});

test("an id that the page shows twice is the same id twice, also in a command", () => {
  const ids = new Map<string, string>();
  assert.equal(compare("ask_1\nask_1", "ask_7\nask_8", ids), "ask_1");
  assert.equal(withKnownIds("tutti answer ask_1 red", ids, []), "tutti answer ask_7 red");
  assert.equal(withKnownIds("tutti show tsk_…", ids, ["tsk_1 tsk_2", "none"]), "tutti show tsk_1");
});

test("a note that is not known is an error, so that no block is left out by mistake", () => {
  assert.throws(() => docBlocks("<!-- no run: because -->\n\n```sh\nls\n```\n"), /the note in line/);
});
