// What is wrong is told before anything is made, and what is made is for its owner alone.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { after, test } from "node:test";

import { tempFolder } from "../../test/support/temp-folder.ts";
import { errorTable } from "../protocol/error.ts";

const bin = join(import.meta.dirname, "..", "..", "bin", "tutti.js");
const folder = tempFolder({ after });

function tutti(args: readonly string[], options: { readonly cwd?: string; readonly input?: string } = {}) {
  const env = { PATH: process.env["PATH"], HOME: folder, NO_COLOR: "1" };
  const { cwd = folder, input = "" } = options;
  const child = spawnSync(process.execPath, [bin, ...args], { cwd, input, env, encoding: "utf8", timeout: 60_000 });
  return { status: child.status, out: child.stdout, err: child.stderr };
}

const say = (text: string) => ({ role: "user", parts: [{ part_type: "text", data: text }] });
const script = { rules: [{ say: "done" }] };
const target = (agent_id: string, more: object = {}) => ({
  agent: { type: "named", agent_id },
  message: say("go"),
  ...more,
});
const command = (config: object) => ({ kind: "force", type: "remote", runner: { kind: "command", config } });
const a = { a: { instructions: "Work." } };

const wrong: Record<string, { readonly file: object; readonly told: RegExp }> = {
  "no targets": { file: { invocation: { targets: [] }, agents: a, script }, told: /target/ },
  "two targets for a single join": {
    file: { invocation: { targets: [target("a"), target("a")] }, agents: a, script },
    told: /exactly/,
  },
  "an agent nobody defined": {
    file: { invocation: { targets: [target("ghost")] }, agents: a, script },
    told: /no agent ghost/,
  },
  "a runner there is not": {
    file: {
      invocation: { targets: [target("a", { executor: { kind: "force", type: "remote", runner: { kind: "ssh" } } })] },
      agents: a,
      script,
    },
    told: /ssh/,
  },
  "a command with a field it does not have": {
    file: { invocation: { targets: [target("a", { executor: command({ argv: ["true"], wibble: 1 }) })] }, agents: a },
    told: /wibble/,
  },
  "a rehearsal without a script": { file: { invocation: { targets: [target("a")] }, agents: a }, told: /no script/ },
};

for (const [name, { file, told }] of Object.entries(wrong)) {
  test(`an invocation with ${name} ends with status 3 and makes no task`, () => {
    const state = mkdtempSync(join(folder, "state-"));
    writeFileSync(join(folder, "wrong.json"), JSON.stringify(file));
    const { status, err } = tutti(["invoke", "wrong.json", "--state", state]);
    assert.equal(status, errorTable.invalid_input.exit, err);
    assert.match(err, told);
    assert.deepEqual(JSON.parse(tutti(["tasks", "--json", "--state", state]).out), []);
  });
}

test("every file of the state is readable by its owner alone, also in a folder that others can read", () => {
  const state = join(folder, "open");
  mkdirSync(state, { mode: 0o755 });
  writeFileSync(join(folder, "ok.json"), JSON.stringify({ invocation: { targets: [target("a")] }, agents: a, script }));
  assert.equal(tutti(["invoke", "ok.json", "--state", state, "--quiet"]).status, 0);
  const files = readdirSync(state);
  assert.ok(files.includes("tutti.db"));
  for (const file of files) assert.equal(statSync(join(state, file)).mode & 0o077, 0, file);
});

test("the same file in another folder is other work when it names folders relative to where it is run", () => {
  const file = join(folder, "here.json");
  const rules = [{ turn: 0, call: [{ tool: "write", args: { path: "here.txt", content: "x" } }] }, { say: "done" }];
  writeFileSync(
    file,
    JSON.stringify({ invocation: { targets: [target("a")] }, agents: a, roots: ["."], script: { rules } }),
  );
  for (const name of ["x", "y"]) {
    const cwd = mkdtempSync(join(folder, `${name}-`));
    assert.equal(tutti(["invoke", file, "--state", join(folder, "both"), "--quiet"], { cwd }).status, 0);
    assert.deepEqual(readdirSync(cwd), ["here.txt"]);
  }
});

test("a batch can be a file, and may begin with a byte order mark", () => {
  writeFileSync(join(folder, "batch.jsonl"), '\ufeff{"id":1,"input":"from the file"}\n');
  const { out } = tutti(["parse", "decision", "--jsonl", "batch.jsonl"], {
    input: '{"id":2,"input":"from the pipe"}\n',
  });
  assert.equal(JSON.parse(out).decision.message, "from the file");
  assert.equal(tutti(["parse", "decision", "--jsonl", "nowhere.jsonl"]).status, errorTable.not_found.exit);
});

test("agents check finds agents that do not exist and schemas that cannot be used", () => {
  const agents = join(folder, "project", ".tutti", "agents");
  mkdirSync(agents, { recursive: true });
  const front = "name: lead\ndescription: Leads.\nhandover: [ghost]\n";
  writeFileSync(join(agents, "lead.md"), `---\n${front}---\nLead.\n`);
  writeFileSync(
    join(agents, "odd.md"),
    "---\nname: odd\ndescription: Odd.\noutput_schema: { type: wibble }\n---\nBe odd.\n",
  );
  const { status, out } = tutti(["agents", "check"], { cwd: join(folder, "project") });
  assert.equal(status, errorTable.invalid_input.exit);
  assert.match(out, /lead\.md:4: error: there is no agent ghost/);
  assert.match(out, /odd\.md:4: error: .*output_schema/);
});

test("a config may import tutti wherever it stands", () => {
  const project = mkdtempSync(join(folder, "config-"));
  writeFileSync(
    join(project, "tutti.config.mjs"),
    `import { defineTool } from "tutti";
     const parameters = { type: "object", properties: { city: { type: "string" } } };
     const input = { "~standard": { version: 1, vendor: "own", validate: (value) => ({ value }) } };
     export default { tools: [defineTool({ name: "weather", description: "Tells.", input, parameters, run: () => "sun" })] };`,
  );
  const { status, out } = tutti(["doctor"], { cwd: project });
  assert.equal(status, 0, out);
  assert.match(out, /ok +config +.*tutti\.config\.mjs/);
});
