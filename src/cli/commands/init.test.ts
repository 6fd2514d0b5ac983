// `tutti init` as a real process, in projects of several kinds.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";

import { tempFolder } from "../../../test/support/temp-folder.ts";
import { errorTable } from "../../protocol/error.ts";

const bin = join(import.meta.dirname, "..", "..", "..", "bin", "tutti.js");
const base = tempFolder({ after });

function makeProject(files: Record<string, string> = {}) {
  const folder = mkdtempSync(join(base, "p-"));
  const project = join(folder, "project");
  const home = join(folder, "home");
  mkdirSync(join(project, ".git"), { recursive: true });
  mkdirSync(home);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(project, name), text);
  const tutti = (args: readonly string[], more: Record<string, string> = {}) => {
    const child = spawnSync(process.execPath, [bin, ...args], {
      cwd: project,
      encoding: "utf8",
      timeout: 240_000,
      env: { PATH: process.env["PATH"], HOME: home, TUTTI_COMMAND: "tutti", NO_COLOR: "1", ...more },
    });
    return { status: child.status, out: child.stdout, err: child.stderr };
  };
  return { home, config: join(project, "tutti.config.jsonc"), policy: join(project, ".tutti", "policy.toon"), tutti };
}

const key = { ANTHROPIC_API_KEY: "x" };

test("init writes a config with checks and a policy with models, trusts both, and changes nothing the second time", () => {
  const { tutti, config, policy } = makeProject({
    "package.json": '{"scripts":{"test":"node --test"}}',
    "package-lock.json": "{}",
  });
  const dry = tutti(["init", "--dry-run"], key);
  assert.match(dry.out, /would be written \S+tutti\.config\.jsonc\n {2}\/\/ What Tutti needs/);
  assert.deepEqual([existsSync(config), existsSync(policy)], [false, false]);
  const { status, out, err } = tutti(["init"], key);
  assert.equal(status, 0, err);
  assert.match(
    out,
    /models +anthropic \(key in the environment\)\n[\s\S]*check +test: npm test \(from package\.json\)/,
  );
  assert.match(out, /written \S+tutti\.config\.jsonc, and trusted as it is now\nwritten \S+policy\.toon, and trusted/);
  assert.match(tutti(["trust", "--show"]).out, /tutti\.config\.jsonc trusted\n[\s\S]*policy\.toon trusted/);
  assert.match(tutti(["trust"]).out, /check +test npm test/);

  writeFileSync(config, `${readFileSync(config, "utf8")}// mine\n`);
  const before = [config, policy].map((file) => readFileSync(file, "utf8"));
  assert.match(
    tutti(["init"], key).out,
    /kept \S+jsonc: it is there already\nkept \S+policy\.toon: it is there already/,
  );
  assert.deepEqual(
    [config, policy].map((file) => readFileSync(file, "utf8")),
    before,
  );
  const forced = tutti(["init", "--force"], key).out;
  assert.match(forced, /replaced \S+jsonc, and trusted[^\n]*\nkept \S+policy\.toon: it is as it would be written/);
  assert.doesNotMatch(readFileSync(config, "utf8"), /mine/);
});

test("without a model no policy is written, since it would rehearse later; the home folder is no project", () => {
  const { tutti, policy, home } = makeProject();
  const { status, out } = tutti(["init"]);
  // A server with models may run on the machine of the test.
  if (!out.includes("on this machine")) {
    assert.match(out, /left out \S+policy\.toon: there is no model yet/);
    assert.equal(existsSync(policy), false);
  }
  assert.equal(status, 0);
  assert.equal(tutti(["init", "--cwd", home]).status, errorTable.usage.exit);
});

test("a config of another kind is kept, also with --force, because two would be one too many", () => {
  const { tutti, config } = makeProject({ "tutti.config.json": "{}" });
  assert.match(tutti(["init", "--force"], key).out, /kept \S+tutti\.config\.json: the project has this config already/);
  assert.equal(existsSync(config), false);
});

test("a check in a config is refused with its place when it cannot be used, and in the user's own config", () => {
  const { tutti, home, config } = makeProject({
    "tutti.config.jsonc": '{"checks": ["make", {"name": "make", "run": ["x"]}]} // twice',
  });
  assert.match(tutti(["trust"]).err, /tutti\.config\.jsonc: .*checks.*must have different names/);
  writeFileSync(config, '{"checks": [{"name": "x", "run": "a && b"}]}');
  assert.match(tutti(["trust"]).err, /tutti\.config\.jsonc: .*checks.*"&&" needs a shell/);
  mkdirSync(join(home, ".tutti"));
  writeFileSync(join(home, ".tutti", "tutti.config.json"), '{"checks": ["make"]}');
  assert.match(tutti(["models", "--offline"]).err, /checks are part of a project/);
});
