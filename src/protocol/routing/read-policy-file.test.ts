import assert from "node:assert/strict";
import { test } from "node:test";

import { encodePolicy } from "./encode-policy.ts";
import { initialPolicy } from "./default-policy.ts";
import { lineOfField, modelsNamedIn } from "./policy-places.ts";
import { placed, readPolicyFile } from "./read-policy-file.ts";

const toon = `# Who does what.
policy:
  # router: old
  router: a/one
  researcher: x
  builder: acp:codex

fallbacks:
  router[1]: a/two
routing:
  decision_rules[2]:
    - "billing => b/three"
    - no arrow
gate:
  require_fields[1]: nonsense
`;

const lineOf = (text: string, { where, model }: { where: string; model: string }) => lineOfField(text, where, model);

test("every model is found with its place and its line, in TOON and in JSON, and a default has no line", () => {
  const { policy } = readPolicyFile(toon);
  assert.ok(policy !== undefined);
  assert.deepEqual(
    modelsNamedIn(policy).map((named) => [named.where, named.model, lineOf(toon, named)]),
    [
      ["policy.router", "a/one", 4],
      ["policy.info", "gpt-5.4-mini", undefined],
      ["policy.build", "acp:codex", 6],
      ["policy.escalate_to", "gpt-5.4", undefined],
      ["fallbacks.router[0]", "a/two", 9],
      ["routing.decision_rules[0]", "b/three", 12],
    ],
  );
  const json = JSON.stringify(
    { policy: { router: "r/1", "escalate-to": "e/1" }, fallbacks: { info: ["i/2"] } },
    null,
    2,
  );
  assert.equal(lineOfField(json, "policy.router"), 3);
  assert.equal(lineOfField(json, "policy.escalate_to"), 4);
  assert.equal(lineOfField(json, "policy.info"), undefined, "the list of fallbacks is another field");
  assert.equal(lineOfField(json, "fallbacks.info[0]", "i/2"), 8);
});

test("problems are told with their lines", () => {
  const shown = (text: string) => readPolicyFile(text).problems.map((problem) => placed("p.toon", problem));
  assert.deepEqual(shown(toon), [
    "p.toon:5: policy.researcher is not a known field and was ignored",
    'p.toon:15: gate.require_fields: "nonsense" is not a field, so it requires nothing',
    'p.toon:13: routing.decision_rules[1] is not "words => model" and is skipped: no arrow',
  ]);
  assert.match(shown("policy:\n  router: a\n\tbuild: b\n")[0] ?? "", /^p\.toon:3: is not valid TOON: Line 3: tabs/);
  assert.match(shown("policy:\n  router: a/b\nreview: sometimes\n")[0] ?? "", /^p\.toon:3: review must be one of/);
  assert.deepEqual(readPolicyFile(encodePolicy(initialPolicy("a/b"))).problems, []);
});
