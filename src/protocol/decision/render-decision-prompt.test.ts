import assert from "node:assert/strict";
import { test } from "node:test";

import { z } from "zod";

import { Decision, TaskSpec } from "./decision.ts";
import { parseDecision } from "./parse-decision.ts";
import { renderDecisionPrompt } from "./render-decision-prompt.ts";

test("every field of a task is taught with its description", () => {
  const prompt = renderDecisionPrompt();
  for (const [name, field] of Object.entries(TaskSpec.shape)) {
    const line = prompt.split("\n").find((one) => one.startsWith(`  - \`${name}\` (`));
    assert.ok(line?.endsWith(`: ${field.description}`), name);
  }
});

test("what a model must give is told apart from what it may give", () => {
  const prompt = renderDecisionPrompt();
  const marked = (word: string): string[] =>
    [...prompt.matchAll(RegExp(`\`(\\w+)\` \\(.*, ${word}\\)`, "g"))].map((m) => m[1] ?? "");
  assert.deepEqual(marked("required"), ["tasks", "workdir", "prompt", "conf", "message"]);
  const optional = Object.keys(TaskSpec.shape).filter((name) => !["workdir", "prompt", "conf"].includes(name));
  assert.deepEqual(marked("optional"), [...optional, "acceptance"]);
});

test("an action and a field added to the schema appear in the prompt without further work", () => {
  const pause = z
    .object({ action: z.literal("pause"), minutes: z.number().min(1).max(60).describe("how long to wait") })
    .describe("wait a little");
  const prompt = renderDecisionPrompt(z.discriminatedUnion("action", [...Decision.options, pause]));
  assert.match(prompt, /"pause": wait a little\n- `minutes` \(number from 1 to 60, required\): how long to wait\n/);
  assert.doesNotMatch(renderDecisionPrompt(), /pause/);
});

test("only delegate and respond are offered", () => {
  const prompt = renderDecisionPrompt();
  assert.deepEqual(
    [...prompt.matchAll(/^"(\w+)": /gm)].map((match) => match[1]),
    ["delegate", "respond"],
  );
  assert.doesNotMatch(prompt, /do_work/);
});

test("the manager is told that it may not do work, rule by rule, and what to do instead", () => {
  const prompt = renderDecisionPrompt();
  for (const code of ["SP1", "SP2", "SP3", "SP4", "SP5", "SP6", "SP7"])
    assert.match(prompt, RegExp(`^- ${code}: \\w`, "m"));
  assert.match(prompt, /launch a session/);
  assert.match(prompt, /exactly one JSON object/);
});

test("every worked example is a decision that parses as it stands", () => {
  const examples = renderDecisionPrompt()
    .split("\n")
    .filter((line) => line.startsWith('{"action"'));
  const actions = examples.map((example) => {
    const { decision, recovered, dropped, reprompt } = parseDecision(example);
    assert.deepEqual([decision, recovered, dropped, reprompt], [Decision.parse(JSON.parse(example)), false, [], null]);
    return decision.action;
  });
  assert.deepEqual(actions, ["delegate", "delegate", "respond"]);
});
