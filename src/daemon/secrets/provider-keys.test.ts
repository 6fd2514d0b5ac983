import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import type { Secret } from "../../core/redaction/secret-matcher.ts";
import { ModelsConfig } from "../../model/models-config.ts";
import { resolveProvider } from "../../model/resolve-model.ts";
import { openProviderKeys } from "./provider-keys.ts";

function scene(t: Pick<TestContext, "after">) {
  const folder = mkdtempSync(join(tmpdir(), "tutti-keys-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const told: Secret[] = [];
  return { folder, told, keys: openProviderKeys(folder, (secret) => told.push(secret)) };
}

test("a key is kept in a file for its owner alone, replaced whole, told as a secret before it is used, and removed", async (t) => {
  const { folder, told, keys } = scene(t);
  assert.equal(keys.get("anthropic"), undefined);
  await keys.put("anthropic", "sk-first");
  await keys.put("anthropic", "sk-second");
  const file = join(folder, "provider-keys", "anthropic.key");
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.equal(statSync(join(folder, "provider-keys")).mode & 0o777, 0o700);
  assert.deepEqual([keys.get("anthropic"), keys.list()], ["sk-second", ["anthropic"]]);
  assert.deepEqual(told, [{ name: "anthropic key", value: "sk-second" }]);
  assert.deepEqual([await keys.remove("anthropic"), await keys.remove("anthropic"), keys.list()], [true, false, []]);
});

test("names that lead elsewhere and texts that are no key are refused; a file that others can read is not used", async (t) => {
  const { folder, keys } = scene(t);
  for (const name of ["../x", ".", "a/b", ""]) {
    await assert.rejects(keys.put(name, "sk-1"), { code: "invalid_input" }, name);
    assert.equal(keys.get(name), undefined);
    assert.equal(await keys.remove(name), false);
  }
  for (const key of ["", "two words", "line\nline", "x".repeat(5_000)]) {
    await assert.rejects(keys.put("openai", key), { code: "invalid_input" });
  }
  await keys.put("openai", "sk-1");
  chmodSync(join(folder, "provider-keys", "openai.key"), 0o644);
  assert.throws(() => keys.get("openai"), { code: "refused" });
});

test("the environment goes before a key that is kept, and a provider without keys gets none", async (t) => {
  const { keys } = scene(t);
  await keys.put("anthropic", "sk-kept");
  await keys.put("ollama", "sk-kept");
  const config = ModelsConfig.parse({});
  const of = (provider: string, env: Record<string, string>) => {
    const { key, keyFrom } = resolveProvider({ config, env, storedKey: keys.get }, provider);
    return [key, keyFrom?.from];
  };
  assert.deepEqual(of("anthropic", { ANTHROPIC_API_KEY: "sk-env" }), ["sk-env", "environment"]);
  assert.deepEqual(of("anthropic", { ANTHROPIC_API_KEY: " " }), ["sk-kept", "login"]);
  assert.deepEqual(of("openai", {}), [undefined, undefined]);
  assert.deepEqual(of("ollama", {}), [undefined, undefined]);
});
