import assert from "node:assert/strict";
import { test } from "node:test";

import { z } from "zod";

import { world } from "../../../test/support/agent-kit.ts";
import { resultText } from "../../core/preview.ts";
import { named, single } from "../../protocol/invocation/invocation-builders.ts";
import type { CompleteMessage, Part } from "../../protocol/task/message.ts";
import type { Model } from "../../model-port.ts";
import { builtinTools } from "../agent-environment.ts";
import { stepTool } from "./tool.ts";

const whole = Array.from({ length: 30_000 }, (_, index) => `${index}`).join(" ");
const big = stepTool({
  name: "big",
  description: "Says much.",
  input: z.strictObject({}),
  repeatable: true,
  run: () => whole,
});
const usage = { input_tokens: 1, output_tokens: 1, money_micro_usd: 0 };

/** What the tool that was called last gave back, as the model is shown it. */
function lastResult(messages: readonly CompleteMessage[]): string {
  const part = messages.at(-1)?.parts[0];
  return part?.part_type === "tool_result" ? resultText(part.data) : "";
}

test("a large result is shown as a preview, stands whole in the record, and is read page by page", async (t) => {
  let read = "";
  let turn = 0;
  const parts = (messages: readonly CompleteMessage[]): Part[] => {
    const call = (tool_name: string, input: unknown): Part[] => {
      turn += 1;
      return [{ part_type: "tool_call", data: { tool_call_id: `c${turn}`, tool_name, input } }];
    };
    if (turn === 0) return call("big", {});
    const shown = lastResult(messages);
    assert.ok(shown.length < 32_000, `${shown.length} characters were shown`);
    const cut = /^([^]*)\n\[… .*read_result (\{.*?\}) shows them …\]/.exec(shown);
    if (cut !== null) {
      read = cut[1] ?? "";
      return call("read_result", JSON.parse(cut[2] ?? ""));
    }
    const page =
      /^\[characters \d+ to \d+ of \d+ of the result (\S+?)(?:; go on at offset (\d+)|; this is its end)\]\n([^]*)$/.exec(
        shown,
      );
    assert.ok(page !== null, shown.slice(0, 200));
    read += page[3] ?? "";
    return page[2] === undefined
      ? [{ part_type: "text", data: "read it" }]
      : call("read_result", { id: page[1], offset: Number(page[2]) });
  };
  const model: Model = {
    estimate: () => usage,
    call: async ({ messages }) => ({
      message: { name: null, role: "assistant", parts: parts(messages) },
      usage,
      finish: "stop",
    }),
  };
  const w = await world(t, { environment: { tools: [...builtinTools, big] }, model: () => model });
  const result = await w.scalar({ invocation: single(named("a", "go")), agents: { a: { instructions: "x" } } });
  assert.equal(result.content, "read it");
  assert.equal(read, whole);
  assert.ok(w.toolResults(result.task_id).includes(whole));
});
