import assert from "node:assert/strict";
import { test } from "node:test";

import { saidText } from "./said-text.ts";

test("a message says its text and its final answer, and other calls say nothing", () => {
  const call = (tool_name: string, input: unknown) => ({
    part_type: "tool_call" as const,
    data: { tool_call_id: "c", tool_name, input },
  });
  assert.equal(
    saidText({
      parts: [{ part_type: "text", data: "Look." }, call("run", { argv: ["ls"] }), call("final", { content: "Done." })],
    }),
    "Look.\n\nDone.",
  );
  assert.equal(saidText({ parts: [call("final", { content: { files: 7 } })] }), '{\n  "files": 7\n}');
  assert.equal(saidText({ parts: [call("run", {})] }), "");
});
