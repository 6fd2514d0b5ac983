// `tutti models test` and the list of models, as real processes with a provider on this machine.
import assert from "node:assert/strict";
import { test } from "node:test";

import { bench } from "../../../test/support/cli-process.ts";
import { modelServer } from "../../../test/support/model-server.ts";

test("models lists what the provider offers, priced or not; models test says what works and what it cost", async (t) => {
  const server = await modelServer(t, "anthropic", ({ url, body }) => {
    if (url.startsWith("/v1/models")) {
      return { status: 200, body: { data: [{ id: "claude-sonnet-5-5" }, { id: "claude-future-7" }] } };
    }
    const text = JSON.stringify(body);
    if (text.includes("1742")) return { reply: { text: ["1742"] } };
    if (text.includes("Call the tool"))
      return { reply: { calls: [{ id: "c", name: "add", args: '{"a":17,"b":25}' }] } };
    return { reply: { reasoning: "Hm.", text: ["red"] } };
  });
  const set = { ANTHROPIC_BASE_URL: server.origin, ANTHROPIC_API_KEY: "sk-ant-test" };
  Object.assign(process.env, set);
  const b = bench(t);
  for (const name of Object.keys(set)) delete process.env[name];

  const listed = await b.start("models").ended;
  assert.match(listed.out, /claude-sonnet-5-5 +native, \$2\/\$10/);
  assert.match(listed.out, /anthropic\/claude-future-7 +native, price unknown/);
  assert.match(listed.out, /as of \d{4}-\d{2}-\d{2}/);

  const { status, out, err } = await b.start("models", "test", "sonnet").ended;
  assert.equal(status, 0, err);
  assert.match(
    out,
    /✓ reply +"red" \(.*tokens, \$0\.\d+\)\n✓ tool +native call \{"a":17,"b":25\}, and its result was read/,
  );
  assert.match(out, /✗ long reply +0 of 400 numbers/);
  assert.match(out, /✓ thinking +"Hm\.".*\n✓ image +"red"/);
  assert.match(out, /it cost \$0\.\d+, for \d+ tokens/);
  assert.ok(!out.includes("sk-ant-test"));

  const without = await b.start("models", "test", "openai/gpt-6-sol").ended;
  assert.notEqual(without.status, 0);
  assert.match(without.err, /openai needs a key/);
  const rehearsal = await b.start("models", "test", "rehearsal/script").ended;
  assert.deepEqual([rehearsal.status, /no model is called/.test(rehearsal.err)], [0, true], rehearsal.err);
});
