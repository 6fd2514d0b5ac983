// The first goal in a repository that nobody has set up, at 80 × 24: what was found is shown, and one question is asked.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, test, type TestContext } from "node:test";

import { repositoryAt } from "../support/git-kit.ts";
import { modelServer, type Received, type Turn } from "../support/model-server.ts";
import { hasTerminals, type Person, personAt, type Terminal } from "../support/person.ts";

const check = `import { readFileSync } from "node:fs";
if (readFileSync("greeting.txt", "utf8").trim() !== "Good morning") throw new Error("say Good morning");
`;
const question = /Use this\? y or n\n>$/;

/** The manager of a goal, and a worker that does what it is told. */
function reply({ body }: Received): Turn {
  const conversation = JSON.stringify(body["messages"]);
  if (!JSON.stringify(body["tools"] ?? []).includes('"write"')) {
    const task = { id: "greet", workdir: ".", kind: "code_change", prompt: "Write greeting.txt.", conf: 0.95 };
    return { reply: { text: [JSON.stringify({ action: "delegate", tasks: [task] })] } };
  }
  if (conversation.includes('"name":"write"')) return { reply: { text: ["greeting.txt says it."] } };
  const args = JSON.stringify({ path: "greeting.txt", content: "Good morning\n" });
  return { reply: { calls: [{ id: "call_1", name: "write", args }] } };
}

async function personWithModel(t: TestContext): Promise<Person> {
  const server = await modelServer(t, "openai-compatible", reply);
  const person = personAt(t, 80);
  const { git, commit } = repositoryAt(person.folder);
  git("init", "-q", "-b", "main");
  git("config", "user.name", "Ada");
  git("config", "user.email", "ada@example.com");
  const scripts = JSON.stringify({ type: "module", scripts: { test: "node check.js" } });
  commit({ "check.js": check, "greeting.txt": "Good evening\n", "package.json": scripts }, "A new project");
  const own = { kind: "openai-compatible", base_url: `${server.origin}/v1`, key_env: null, format: "native" };
  const models = { default: "own/small", providers: { own }, models: { "own/small": { context_tokens: 32_768 } } };
  person.settings({ models });
  return person;
}

/** Leaves as soon as the manager has made a task. */
async function goesOn(terminal: Terminal): Promise<void> {
  await terminal.sees(/greet/);
  terminal.interrupts();
  assert.equal(await terminal.ended, 130);
}

describe("a goal in a project without a config", { skip: hasTerminals ? false : "there is no script(1)" }, () => {
  test("y writes what was shown, and the goal goes on with its checks", { timeout: 600_000 }, async (t) => {
    const person = await personWithModel(t);
    const first = person.start("run", "Greet us");
    const [shown] = await first.sees(/\S+ is not set up[^]*Use this\? y or n\n>$/);
    assert.match(shown, /models +own\/small \(in your config\)/);
    assert.match(shown, /check +test: npm test \(from package\.json\)/);
    assert.ok(shown.split("\n").length < 20, shown);
    first.types("");
    await first.sees(question);
    assert.equal(existsSync(join(person.folder, "tutti.config.jsonc")), false, "Enter alone is no answer");
    first.types("y");
    await first.sees(/written \S+tutti\.config\.jsonc[^]*written \S+policy\.toon/);
    await first.sees(/^Done: Greet us/m);
    assert.equal(await first.ended, 0);
    assert.match(first.text(), /proof: check `npm test`, of the project: passed/);
    assert.match(person.read("tutti.config.jsonc"), /"run": \["npm", "test"\]/);

    const report = await person.run(0, "report", "last");
    assert.match(report, /^Done: Greet us$/m, "Markdown is shown as on any terminal");
    assert.match(report, /tokens, price unknown/);

    const again = person.start("run", "Greet us again");
    await goesOn(again);
    assert.doesNotMatch(again.text(), /Use this\?/);
    for (const { screen, text } of person.terminals)
      assert.deepEqual([screen.broken, screen.strange], [[], []], text());
  });

  test("n writes nothing, the goal goes on, and nobody is asked again", { timeout: 600_000 }, async (t) => {
    const person = await personWithModel(t);
    const first = person.start("run", "Greet us");
    await first.sees(question);
    first.types("n");
    await first.sees(/Nothing was written/);
    await goesOn(first);
    const again = person.start("run", "Greet us again");
    await goesOn(again);
    assert.doesNotMatch(again.text(), /Use this\?/);
    assert.equal(existsSync(join(person.folder, "tutti.config.jsonc")), false);
  });

  test("without a terminal, with --detach or with --yes nobody is asked, and one line says what is used", async (t) => {
    const person = await personWithModel(t);
    const line = /This project has no config: own\/small works,\s+and no\s+check of its own\s+runs/;
    for (const option of ["--detach", "--yes"]) {
      const terminal = person.start("run", `Greet ${option}`, option);
      await terminal.sees(line);
      if (option === "--yes") await goesOn(terminal);
      else await terminal.ended;
      assert.doesNotMatch(terminal.text(), /Use this\?/);
    }
    const bin = join(import.meta.dirname, "..", "..", "bin", "tutti.js");
    const env = { PATH: process.env["PATH"], HOME: join(person.state, "..") };
    const args = [bin, "run", "Greet a pipe", "--detach"];
    const { stderr } = await promisify(execFile)(process.execPath, args, { cwd: person.folder, env });
    assert.match(stderr, line);
    assert.equal(existsSync(join(person.folder, "tutti.config.jsonc")), false);
  });

  test("who names a check, and has a model, is not asked", { timeout: 600_000 }, async (t) => {
    const person = await personWithModel(t);
    const terminal = person.start("run", "Greet us", "--check", "node check.js");
    await goesOn(terminal);
    assert.doesNotMatch(terminal.text(), /Use this\?|is not set up/);
  });
});
