// The first hour of a person with Tutti at 80 × 24: the tour, a model server of one's own, a goal with everything that comes up.

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { hasTerminals, type Person, personAt } from "../support/person.ts";
import { repositoryAt } from "../support/git-kit.ts";
import { modelServer, type Received, type Turn } from "../support/model-server.ts";
import { throttle } from "../support/throttle.ts";
import { readDaemonFile } from "../../src/daemon/lifecycle/daemon-file.ts";

/** The share of the time that Tutti gets; `npm run first-hour` gives it a tenth. */
const share = Number(process.env["TUTTI_SHARE"] ?? 1);

const check = `import { existsSync, readFileSync } from "node:fs";
const said = existsSync("greeting.txt") ? readFileSync("greeting.txt", "utf8") : "";
if (said.trim() !== "Good morning") throw new Error("the greeting must say Good morning");
`;
const question = "Which greeting is the right one?";

/** A small model: the manager of a goal, and a worker that errs once. */
function reply({ body }: Received): Turn {
  const conversation = JSON.stringify(body["messages"]);
  if (!JSON.stringify(body["tools"] ?? []).includes('"write"')) {
    const task = { id: "greet", workdir: ".", kind: "code_change", prompt: "Write greeting.txt.", conf: 0.95 };
    return { reply: { text: [JSON.stringify({ action: "delegate", tasks: [task] })] } };
  }
  const call = (name: string, args: unknown): Turn => ({
    reply: { calls: [{ id: `call_${conversation.length}`, name, args: JSON.stringify(args) }] },
  });
  const isBack = conversation.includes("the greeting must say");
  if (!isBack && !conversation.includes(question)) return call("ask", { question, choices: ["morning", "evening"] });
  if (!conversation.includes('"name":"write"')) {
    return call("write", { path: "greeting.txt", content: isBack ? "Good morning\n" : "Good evening\n" });
  }
  return { reply: { text: ["greeting.txt says it."] } };
}

async function tour(person: Person): Promise<void> {
  const seen = person.start("up", "--tour-only", "--port", "0");
  await seen.sees(/This is a rehearsal/);
  await seen.sees(/^Done: /m);
  assert.equal(await seen.ended, 0);
}

async function goal(person: Person): Promise<void> {
  const words = ["run", "Greet us", "--accept", "node check.js", "--check", "node check.js"];
  const first = person.start(...words);
  await first.sees(/Which greeting is the right one\?[^]*\n>$/);
  first.interrupts();
  await first.sees(/it\s+goes\s+on/);
  assert.equal(await first.ended, 130);

  const again = person.start("attach", "last");
  await again.sees(/Which greeting is the right one\?[^]*\n>$/);
  again.types("morning");
  // The check of the person fails after the first attempt, and goes back to the worker with its output.
  await again.sees(/attempt\s+2/);
  await again.sees(/^Done: Greet us/m);
  assert.equal(await again.ended, 0);

  assert.match(again.text(), /2\s+attempts/);
  assert.doesNotMatch(again.text(), /no\s+model\s+was\s+called/);
  await person.run(0, "merge", "last", "main", "--checked-out");
  assert.equal(person.read("greeting.txt"), "Good morning\n");
}

describe("the first hour", { skip: hasTerminals ? false : "there is no script(1) to make a terminal with" }, () => {
  test("at 80 columns", { timeout: 1_200_000 / share }, async (t) => {
    const server = await modelServer(t, "openai-compatible", reply);
    const person = personAt(t, 80, { patienceMs: 400_000 / share, commandMs: 400_000 / share });
    const daemon = (): readonly number[] => {
      const pid = readDaemonFile(person.state)?.pid;
      return pid === undefined ? [] : [pid];
    };
    const slowed = share < 1 ? throttle(() => [...person.pids(), ...daemon()], share) : undefined;
    try {
      await tour(person);
      const { git, commit } = repositoryAt(person.folder);
      git("init", "-q", "-b", "main");
      git("config", "user.name", "Ada");
      git("config", "user.email", "ada@example.com");
      const script = JSON.stringify({ type: "module", scripts: { test: "node check.js" } });
      commit({ "check.js": check, "package.json": script }, "A new project");
      person.settings({ models: modelsAt(server.origin) });
      await person.run(0, "init");
      commit({}, "What Tutti needs");
      await goal(person);
      await person.run(0, "down");
    } finally {
      slowed?.release();
    }
    for (const { screen, text } of person.terminals) {
      assert.deepEqual(screen.broken, [], `every row fits:\n${text()}`);
      assert.deepEqual(screen.strange, [], `the terminal obeys nobody but us:\n${text()}`);
    }
  });
});

function modelsAt(origin: string): unknown {
  const provider = { kind: "openai-compatible", base_url: `${origin}/v1`, key_env: null, format: "native" };
  return { default: "own/small", providers: { own: provider }, models: { "own/small": { context_tokens: 32_768 } } };
}
