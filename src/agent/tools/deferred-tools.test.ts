import assert from "node:assert/strict";
import { test } from "node:test";

import { world } from "../../../test/support/agent-kit.ts";
import { recorded, solo, textOf } from "../../../test/support/recording-model.ts";
import { adhoc, single } from "../../protocol/invocation/invocation-builders.ts";
import { ToolsConfig } from "../../protocol/invocation/tool-policy.ts";
import type { ModelTool } from "../../model-port.ts";
import { deliverTools, foundTools } from "./deferred-tools.ts";

const builtin = ["read", "write", "list", "echo"];
const search = (query: string) => ({ call: [{ tool: "tool_search", args: { query } }] });
const rules = [
  { turn: 0, ...search("gives") },
  { turn: 1, call: [{ tool: "echo", args: { text: "found" } }] },
  { final: "{{last}}" },
];

test("past the threshold an ad-hoc agent sees the tools that are named whole, and finds the others with tool_search", async (t) => {
  const { sent, model } = recorded();
  const w = await world(t, { model });
  const tools = ToolsConfig.parse({ builtin, deferred_threshold: 3, always_full_schema: ["read"] });
  const file = {
    invocation: single({ ...adhoc("Be brief.", "go"), agent: { type: "ad_hoc", system_prompt: "x", tools } }),
    script: { rules },
  };
  assert.equal((await w.scalar(file)).content, "found");
  assert.deepEqual(
    sent.map((request) => request.tools),
    [
      ["read", "final", "tool_search"],
      ["read", "final", "tool_search", "echo"],
      ["read", "final", "tool_search", "echo"],
    ],
  );
  assert.match(textOf(sent[1]?.messages ?? []), /"name":"echo".*"parameters"/s);
});

test("up to the threshold, and with the mode full, every tool is shown whole", () => {
  const tools = builtin.map((name): ModelTool => ({ name, description: "", parameters: {} }));
  const shown = (more: object): number => deliverTools(tools, ToolsConfig.parse(more)).full.length;
  assert.deepEqual([shown({}), shown({ deferred_threshold: 4 }), shown({ deferred_threshold: 3 })], [4, 4, 0]);
  assert.equal(shown({ delivery_mode: "full", deferred_threshold: 0 }), 4);
  assert.equal(shown({ delivery_mode: "names_only" }), 0);
  assert.deepEqual(foundTools(tools, []), []);
});

test("a definition can say it too, and in the fenced format the contract has only what is shown", async (t) => {
  const { sent, model } = recorded();
  const w = await world(t, { model });
  const tool_delivery = { delivery_mode: "names_only" };
  const result = await w.scalar(solo(rules, { tools: builtin, format: "fenced", tool_delivery }));
  assert.match(String(result.content), /found/);
  const [first] = sent;
  assert.match(first?.system ?? "", /There are:[^]*echo/);
  assert.doesNotMatch(first?.system ?? "", /Gives the text back|function echo/);
  assert.match(textOf(sent[1]?.messages ?? []), /Gives the text back/);
});
