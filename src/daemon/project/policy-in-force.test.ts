import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { tempFolder } from "../../../test/support/temp-folder.ts";
import { PolicyInForce } from "../../protocol/api/catalog.ts";
import { readPolicy } from "../../protocol/routing/read-policy.ts";
import { openProject } from "./open-project.ts";
import { policyInForce } from "./policy-in-force.ts";

test("the policy in force is the project's once it is trusted, and made from the models without one", async (t) => {
  const folder = tempFolder(t);
  const [place, state] = [join(folder, "project"), join(folder, "state")];
  mkdirSync(join(place, ".tutti"), { recursive: true });
  mkdirSync(state, { mode: 0o700 });
  const now = async () => PolicyInForce.parse(await policyInForce(openProject(place, { state })));

  const made = await now();
  assert.partialDeepStrictEqual(made, { source: "default", file: null, usable: true, problems: [] });
  assert.ok(readPolicy(made.text ?? "").ok);

  const file = join(place, ".tutti", "policy.toon");
  writeFileSync(file, made.text ?? "");
  const untrusted = await now();
  assert.partialDeepStrictEqual(untrusted, { source: "project", file, usable: false, text: null });
  assert.match(untrusted.problems[0] ?? "", /tutti trust/);

  await openProject(place, { state }).trustPolicy(untrusted.hash);
  assert.partialDeepStrictEqual(await now(), { source: "project", file, usable: true, text: made.text });

  writeFileSync(file, "policy: nonsense [");
  const broken = await now();
  assert.deepEqual([broken.usable, broken.text], [false, null]);
  assert.ok(broken.problems.length >= 2);
});
