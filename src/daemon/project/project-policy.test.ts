import assert from "node:assert/strict";
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { tempFolder } from "../../../test/support/temp-folder.ts";
import { failsWith } from "../../../test/support/try-tool.ts";
import { initialPolicy } from "../../protocol/routing/default-policy.ts";
import { encodePolicy } from "../../protocol/routing/encode-policy.ts";
import { findPolicyFile, policyFor, policyPath, trustPolicy, writePolicyFile } from "./project-policy.ts";
import { openTrust } from "./trusted-configs.ts";

function makeProject(t: Parameters<typeof tempFolder>[0]) {
  const root = tempFolder(t);
  const [project, state] = [join(root, "project"), join(root, "state")];
  mkdirSync(join(project, ".tutti"), { recursive: true });
  const file = join(project, policyPath);
  const write = (text: string): string => {
    writeFileSync(file, text);
    return findPolicyFile(project)?.hash ?? "";
  };
  return { root, project, state, file, write };
}

const text = (model: string): string => encodePolicy(initialPolicy(model));

test("a policy counts only with the content that was trusted, and neither it nor the config counts for the other", async (t) => {
  const { project, state, write } = makeProject(t);
  const first = write(text("a/one"));
  await assert.rejects(
    policyFor(project, state),
    failsWith("refused", /never trusted; look at it and run `tutti trust`/),
  );
  await trustPolicy(project, state, first);
  const kept = await policyFor(project, state);
  assert.deepEqual(
    [kept.policy.policy.build, kept.source, kept.hash, kept.text],
    ["a/one", "project", first, text("a/one")],
  );

  const second = write(text("a/two"));
  await assert.rejects(policyFor(project, state), failsWith("refused", /has changed since you trusted it/));
  await assert.rejects(trustPolicy(project, state, first), failsWith("conflict", /has just changed/));
  await trustPolicy(project, state, second);
  assert.equal((await policyFor(project, state)).policy.policy.build, "a/two");
  assert.equal(kept.policy.policy.build, "a/one", "what started before keeps its version");

  const trust = openTrust(state);
  assert.equal(trust.misses(project), false, "a trusted policy does not stand for a config that is gone");
  assert.equal(trust.isTrusted({ folder: project, hash: second }), false);
  await trust.revoke(project);
  await assert.rejects(policyFor(project, state), failsWith("refused", /never trusted/));
});

test("a policy that cannot be used is told with its line and is not trusted", async (t) => {
  const { project, state, write } = makeProject(t);
  const hash = write("policy:\n  router: a/b\nreview: sometimes\n");
  const refusal = failsWith("invalid_input", /policy\.toon:3: review must be one of/);
  await assert.rejects(trustPolicy(project, state, hash), refusal);
});

test("a policy that somebody else could change, or that is a link, is refused", (t) => {
  const { root, project, file, write } = makeProject(t);
  write(text("a/b"));
  chmodSync(file, 0o666);
  assert.throws(() => findPolicyFile(project), failsWith("refused", /can be changed by other users/));
  const other = join(root, "other");
  mkdirSync(join(other, ".tutti"), { recursive: true });
  chmodSync(file, 0o600);
  symlinkSync(file, join(other, policyPath));
  assert.throws(() => findPolicyFile(other), failsWith("refused", /no regular file/));
});

test("a policy that Tutti writes is trusted, and one that is there is not overwritten", async (t) => {
  const { project, state } = makeProject(t);
  const wanted = { project, state, text: text("a/b") };
  await writePolicyFile(wanted);
  assert.equal((await policyFor(project, state)).policy.policy.info, "a/b");
  await assert.rejects(writePolicyFile({ ...wanted, text: text("x/y") }), failsWith("conflict", /was not changed/));
});
