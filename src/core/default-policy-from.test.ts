import assert from "node:assert/strict";
import { test } from "node:test";

import { rehearsalModelName } from "./rehearsal-name.ts";
import { defaultPolicyFrom, type UsableModel } from "./default-policy-from.ts";

const view = (model: string, more: Partial<UsableModel> = {}): UsableModel => ({
  model,
  key: true,
  default: false,
  price: null,
  ...more,
});
const costs = (usd: number) => ({ price: { input_micro_usd: usd, output_micro_usd: usd } });
const roles = (models: readonly UsableModel[]): string[] => {
  const { router, info, build, escalate_to } = defaultPolicyFrom(models).policy;
  return [router, info, build, escalate_to];
};

test("with nothing but the rehearsal, the rehearsal has every role", () => {
  const nothing = Array(4).fill(rehearsalModelName);
  assert.deepEqual(roles([]), nothing);
  assert.deepEqual(roles([view(rehearsalModelName, { default: true })]), nothing);
  assert.deepEqual(roles([view("anthropic/claude-sonnet-5-5", { key: false, default: true })]), nothing);
});

test("the strongest model decides, the default model builds, and a cheap one looks things up", () => {
  const [fable, sonnet, haiku] = ["claude-fable-5-2", "claude-sonnet-5-5", "claude-haiku-5-5"].map(
    (name) => `anthropic/${name}`,
  ) as [string, string, string];
  const models = [
    view("anthropic/claude-opus-4-1", costs(75)),
    view(fable),
    view(sonnet, { default: true }),
    view(haiku),
  ];
  assert.deepEqual(roles(models), [fable, haiku, sonnet, fable]);
});

test("work never goes to another provider than that of the default model", () => {
  const own = view("ollama/qwen3", { default: true, ...costs(0) });
  const models = [own, view("ollama/small", costs(0)), view("anthropic/claude-fable-5-2", costs(40))];
  assert.deepEqual(roles(models), Array(4).fill("ollama/qwen3"));
});

test("among models that nobody ranked, the price decides if it is known of all of them", () => {
  const models = [
    view("lab/mid", { default: true, ...costs(5) }),
    view("lab/big", costs(9)),
    view("lab/small", costs(1)),
  ];
  assert.deepEqual(roles(models), ["lab/big", "lab/small", "lab/mid", "lab/big"]);
  assert.deepEqual(roles([...models, view("lab/unknown")]), Array(4).fill("lab/mid"));
});
