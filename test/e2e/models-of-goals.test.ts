// Which models the tasks of a goal get: those of a config that is agreed to only now, the manager's own, and a script's.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import { GoalReport } from "../../src/protocol/task/goal-report.ts";
import { skipUnconfined as skip } from "../support/check-kit.ts";
import { bench, type Bench, type Ended } from "../support/cli-process.ts";
import { testRepository, type TestRepository } from "../support/git-kit.ts";
import { delegating, writing } from "../support/goal-scene.ts";
import { type ModelServer, modelServer, type Received, type Turn } from "../support/model-server.ts";
import { until } from "../support/wait-until.ts";
import { tempFolder } from "../support/temp-folder.ts";

interface Scene extends Bench {
  readonly repository: TestRepository;
  readonly server: ModelServer;
  /** Runs a command while the model server goes on answering. */
  ended(...args: readonly string[]): Promise<Ended>;
}

/** A repository with a config that nobody has agreed to, and a model server that does what the goal asks. */
async function localModel(
  t: TestContext,
  config: (origin: string) => object,
  turns: (request: Received) => Turn = reply,
): Promise<Scene> {
  const home = tempFolder(t, "tutti-home-");
  const before = process.env["HOME"];
  process.env["HOME"] = home;
  const b = bench(t);
  process.env["HOME"] = before;
  const server = await modelServer(t, "openai-compatible", turns);
  const repository = testRepository(t, { "a.txt": "a\n" });
  repository.commit({ "tutti.config.json": JSON.stringify(config(server.origin)) });
  return { ...b, repository, server, ended: (...args) => b.start(...args).ended };
}

function reply({ body }: Received): Turn {
  const messages = Array.isArray(body["messages"]) ? body["messages"] : [];
  const tools = Array.isArray(body["tools"]) ? body["tools"] : [];
  if (tools.length === 0) {
    const tasks = [{ id: "greet", workdir: ".", kind: "code_change", prompt: "Write hello.txt.", conf: 0.95 }];
    return { reply: { text: [JSON.stringify({ action: "delegate", tasks })] } };
  }
  if (messages.at(-1)?.role === "tool") return { reply: { text: ["hello.txt is there"] } };
  const args = JSON.stringify({ path: "hello.txt", content: "hello\n" });
  return { reply: { calls: [{ id: "c1", name: "write", args }] } };
}

const providers = (origin: string) => ({
  keyed: { kind: "openai-compatible", base_url: `${origin}/v1`, key_env: null },
});

async function reportOf(scene: Scene): Promise<GoalReport> {
  return GoalReport.parse(JSON.parse((await scene.ended("report", "last", "--json")).out));
}

test(
  "a config that is agreed to after the goal began gives its models and its checks to the whole goal",
  { skip },
  async (t) => {
    const scene = await localModel(t, (origin) => ({
      models: { default: "keyed/m", providers: providers(origin) },
      checks: [{ name: "there", run: "test -e hello.txt" }],
    }));
    const asked = await scene.ended("run", "Say hello", "--cwd", scene.repository.folder);
    assert.deepEqual([asked.status, scene.server.received.length], [9, 0], asked.err);
    assert.match(asked.err, /was never trusted/);
    assert.equal((await scene.ended("answer", "last", "y")).status, 0);
    const { status, out, err } = await scene.ended("attach", "last");
    assert.equal(status, 0, `${out}${err}`);
    const report = await reportOf(scene);
    assert.deepEqual(
      report.tasks.map(({ state, route }) => [state, route?.model]),
      [["verified", "keyed/m"]],
    );
    assert.match(out, /proof: check `test -e hello.txt`, of the project: passed/);
    assert.deepEqual([report.rehearsal, report.called], [false, true]);
    assert.doesNotMatch(`${out}${err}`, /rehears/);
    assert.ok(scene.server.received.length >= 3, "the manager and the worker called the server");
  },
);

test("what a real model planned is not rehearsed, also when no default model is set up", { skip }, async (t) => {
  const scene = await localModel(t, (origin) => ({ models: { providers: providers(origin) } }));
  const { repository } = scene;
  assert.equal((await scene.ended("trust", repository.folder)).status, 0);
  const goal = ["run", "Say hello", "--cwd", repository.folder, "--check", "test -e hello.txt"];
  const { status, out, err } = await scene.ended(...goal, "--manager-model", "keyed/m");
  assert.equal(status, 0, `${out}${err}`);
  assert.deepEqual(
    (await reportOf(scene)).tasks.map(({ route }) => route?.model),
    ["keyed/m"],
  );
});

test("without a model, a goal ends after the yes and says what is missing", { skip }, async (t) => {
  const scene = await localModel(t, () => ({ checks: [] }));
  assert.equal((await scene.ended("run", "Say hello", "--cwd", scene.repository.folder)).status, 9);
  assert.equal((await scene.ended("answer", "last", "y")).status, 0);
  const { status, out, err } = await scene.ended("attach", "last");
  assert.notEqual(status, 0);
  assert.match(`${out}${err}`, /there is no model that could split the goal/);
});

test("a script rehearses all of a goal, whatever models the project and its agents name", { skip }, async (t) => {
  const scene = await localModel(t, (origin) => ({ models: { default: "keyed/m", providers: providers(origin) } }));
  const { repository } = scene;
  repository.commit({
    ".tutti/agents/writer.md": "---\ndescription: writes\nmodel: keyed/m\nfallback_models: [keyed/m]\n---\nWrite.\n",
  });
  assert.equal((await scene.ended("trust", repository.folder)).status, 0);
  const script = scene.file("script.json", {
    rules: [
      delegating([
        { id: "greet", prompt: "Write hello.txt." },
        { id: "sign", prompt: "Write name.txt.", agent: "writer" },
      ]),
      ...writing("Write hello.txt", "hello.txt", "hello\n"),
      { agent: "writer", turn: 0, call: [{ tool: "write", args: { path: "name.txt", content: "ann\n" } }] },
      { agent: "worker", final: "hello.txt is there" },
      { agent: "writer", final: "name.txt is there" },
    ],
  });
  const checks = ["--check", "test -e hello.txt", "--check", "test -e name.txt"];
  const goal = ["run", "Say hello", "--cwd", repository.folder, "--script", join(scene.folder, script)];
  const { status, out, err } = await scene.ended(...goal, ...checks);
  assert.equal(status, 0, `${out}${err}`);
  assert.match(out, /a rehearsal: a script was played, and no model was called/);
  assert.deepEqual([scene.server.received.length, (await reportOf(scene)).called], [0, false]);
});

test("while a model is over its rate limit, everything that shows the goal says so", { skip }, async (t) => {
  const busy: Turn = { status: 429, headers: { "retry-after": "240" } };
  const scene = await localModel(
    t,
    (origin) => ({ models: { default: "keyed/m", providers: providers(origin) } }),
    () => busy,
  );
  assert.equal((await scene.ended("trust", scene.repository.folder)).status, 0);
  const run = scene.start("run", "Say hello", "--cwd", scene.repository.folder);
  const waits = /waiting for keyed\/m: rate limit, try 2 of 25, next in \d+ (?:s|min)/;
  await until(async () => waits.test((await scene.ended("goals")).out));
  for (const words of [["goals"], ["sessions"], ["status"], ["observe", "last"], ["logs", "last"]]) {
    assert.match((await scene.ended(...words)).out, waits, words.join(" "));
  }
  assert.equal((await scene.ended("cancel", "last")).status, 0);
  await run.ended;
  assert.match((await scene.ended("goals")).out, /it was canceled/);
  assert.doesNotMatch((await scene.ended("status")).out, waits);
});
