// The commands for the policy of a project, as real processes.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";

import { tempFolder } from "../../../test/support/temp-folder.ts";
import { errorTable } from "../../protocol/error.ts";

const root = join(import.meta.dirname, "..", "..", "..");
const base = tempFolder({ after });

function makeProject() {
  const folder = mkdtempSync(join(base, "p-"));
  const project = join(folder, "project");
  mkdirSync(join(project, ".git"), { recursive: true });
  mkdirSync(join(folder, "home"));
  const tutti = (args: readonly string[], more: Record<string, string> = {}) => {
    const child = spawnSync(process.execPath, [join(root, "bin", "tutti.js"), ...args], {
      cwd: project,
      encoding: "utf8",
      timeout: 240_000,
      env: { PATH: process.env["PATH"], HOME: join(folder, "home"), TUTTI_COMMAND: "tutti", NO_COLOR: "1", ...more },
    });
    return { status: child.status, out: child.stdout, err: child.stderr };
  };
  return { project, policy: join(project, ".tutti", "policy.toon"), tutti };
}

test("without a policy, one is made from the models here; `init --write` writes it, with comments, and trusts it", () => {
  const { tutti, policy } = makeProject();
  assert.match(
    tutti(["policy", "explain"]).out,
    /by the policy made from your models:\n {2}router +rehearsal\/script\n/,
  );
  const key = { ANTHROPIC_API_KEY: "x" };
  assert.equal(tutti(["policy", "init", "--write"], key).status, 0);
  const text = readFileSync(policy, "utf8");
  assert.match(text, /# Does the work: code, tests, debugging\.\n {2}build: anthropic\/claude-sonnet-5-5\n/);
  assert.equal(tutti(["policy", "check"], key).err, "", "it is trusted");
  const again = tutti(["policy", "init", "--write"], key);
  assert.deepEqual([again.status, /was not changed/.test(again.err)], [errorTable.conflict.exit, true]);
});

test("check names every model that cannot run, with its line and why, and its status is not 0", () => {
  const { tutti, policy, project } = makeProject();
  mkdirSync(join(project, ".tutti"));
  writeFileSync(
    policy,
    `policy:
  router: openai/gpt-6-sol
  info: gpt-5.4-mini
  build: acp:nobody
  escalate_to: a2a:x
fallbacks:
  router[1]: nowhere/m
routing:
  decision_rules[2]:
    - "billing => rehearsal/script"
    - "money => command:sh"
`,
  );
  const { status, out, err } = tutti(["policy", "check"]);
  assert.equal(status, errorTable.invalid_input.exit);
  for (const expected of [
    /^fail \S+policy\.toon:2: policy\.router openai\/gpt-6-sol {2}openai needs a key/m,
    /^fail \S+policy\.toon:3: policy\.info gpt-5\.4-mini {2}the model "gpt-5\.4-mini" has no provider/m,
    /^fail \S+policy\.toon:4: policy\.build acp:nobody {2}there is no profile nobody/m,
    /^fail \S+policy\.toon:5: policy\.escalate_to a2a:x {2}there is no runner a2a yet/m,
    /^fail \S+policy\.toon:7: fallbacks\.router\[0\] nowhere\/m {2}there is no model provider nowhere/m,
    /^ok {3}\S+policy\.toon:10: routing\.decision_rules\[0\] rehearsal\/script/m,
    /^fail \S+policy\.toon:11: routing\.decision_rules\[1\] command:sh {2}the runner command runs programs/m,
    /: 6 models that it names cannot run here/,
  ]) {
    assert.match(out, expected);
  }
  assert.match(err, /is not trusted as it is now, so no goal can start/);
  const told = JSON.parse(tutti(["policy", "check", "--json"]).out) as { ok: boolean; models: { ok: boolean }[] };
  assert.deepEqual([told.ok, told.models.filter(({ ok }) => !ok).length], [false, 6]);
});

test("explain says where a task goes, by which words, for a task and for a handoff", () => {
  const { tutti } = makeProject();
  const policy = ["--policy", join(root, "examples", "policy.toon")];
  const { status, out } = tutti(["policy", "explain", "Implement the latest parser", ...policy]);
  assert.equal(status, 0);
  assert.match(out, /^model +gpt-5\.3-codex-spark \(build\)\n[\s\S]*^words +test, implement$/m);
  assert.match(out, /^ {2}build +gpt-5\.3-codex-spark cannot run here: the model .* has no provider/m);
  const risky = tutti(["policy", "explain", "Plan the migration", ...policy]).out;
  assert.match(risky, /^because +words of it speak of a risk\nwords +migration$/m);
  const handoff = ["policy", "explain", "--handoff", join(root, "examples", "handoff.toon"), ...policy, "--json"];
  const told = JSON.parse(tutti(handoff).out) as { decision: { matched_by: string }; roles: unknown[] };
  assert.deepEqual([told.decision.matched_by, told.roles.length], ["destination", 4]);
});

test("trust shows and trusts the policy beside the config, and a project with neither has nothing to trust", () => {
  const { tutti, policy, project } = makeProject();
  assert.match(tutti(["trust"]).out, /has neither a config nor a policy/);
  mkdirSync(join(project, ".tutti"));
  writeFileSync(policy, "policy:\n  router: a/b\n  color: red\n");
  assert.match(
    tutti(["trust", "--show"]).out,
    /policy\.toon not trusted\n[\s\S]*policy\.toon:3: policy\.color is not a known/,
  );
  assert.equal(tutti(["trust"]).status, 0);
  assert.match(tutti(["trust", "--list"]).out, /project policy, sha256 [0-9a-f]{12}, since/);
  assert.match(tutti(["trust", "--show"]).out, /policy\.toon trusted/);
});
