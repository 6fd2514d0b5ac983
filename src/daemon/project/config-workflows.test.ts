import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import { killChild } from "../../../test/support/kill-process.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { trustProject } from "../../../test/support/trusted-project.ts";
import { upScene } from "../../../test/support/up-process.ts";
import { until } from "../../../test/support/wait-until.ts";
import type { Tutti } from "../../client/client.ts";
import { httpClient } from "../../client/http-client.ts";
import { named, single } from "../../protocol/invocation/invocation-builders.ts";
import { InvocationResult } from "../../protocol/invocation/invocation-result.ts";
import { openState } from "../state/open-state.ts";
import { readConfigFiles } from "./config-files.ts";
import { ConfigProcess, LostProcess } from "./config-process.ts";
import { openProject } from "./open-project.ts";

const imports = `import { appendFileSync, existsSync } from "node:fs";
  import { setTimeout as pause } from "node:timers/promises";
  import { agent, target, workflow } from "tutti";
  import { z } from "zod";
  const gone = (file) => (async () => { while (!existsSync(file)) await pause(5); return process.pid; })();
  const log = (line) => appendFileSync("log.txt", line + "\\n");
  `;

interface Place {
  readonly project: string;
  readonly state: string;
  readonly log: () => string[];
}

function place(t: TestContext, config: string, folder = tempFolder(t)): Place {
  const [project, state] = [join(folder, "project"), join(folder, "state")];
  mkdirSync(project);
  writeFileSync(join(project, "tutti.config.mjs"), imports + config);
  const file = join(project, "log.txt");
  return { project, state, log: () => (existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : []) };
}

async function opened(t: TestContext, config: string) {
  const at = place(t, config);
  trustProject(at.state, at.project);
  const state = await openState(at.state);
  t.after(() => state.close());
  return { ...at, client: state.client };
}

/** Runs the agent `night` with the workflow `nightly`; the other agents answer by the script. */
async function start(client: Tutti, project: string, prompt: string, more: object = {}): Promise<string> {
  const body = {
    invocation: single(named("night", prompt)),
    agents: {
      night: { instructions: "Nights.", runner: { kind: "nightly" }, ...more },
      writer: { instructions: "Write." },
      judge: { instructions: "Judge." },
    },
    script: { rules: [{ agent: "judge", final: { good: true } }, { say: "All quiet." }] },
    roots: ["."],
  };
  return (await client.invoke(JSON.stringify(body), { folder: project })).task;
}

async function outcome(client: Tutti, task: string): Promise<{ status: string; content: unknown }> {
  const result = InvocationResult.parse((await client.result(task)).content);
  assert.ok(result.kind === "scalar");
  return result.result;
}

const everything = `
  const child = workflow("child", z.object({ n: z.number() }), async (durable, { n }) => ({ twice: n * 2, pid: process.pid }));
  const nightly = workflow("nightly", z.object({ day: z.coerce.date() }), async (durable, { day }) => {
    const at = await durable.step("fetch", ({ key, progress }) => { progress("fetching"); return { when: day, keyed: key !== "" }; });
    const failed = await durable.step("fails", () => { throw new Error("no line"); }).catch((error) => error.message);
    const poem = await durable.run("poem", "writer", "Write about " + at.when);
    const { good } = await durable.run("judged", "judge", poem, { output: z.object({ good: z.boolean() }) });
    const both = await durable.fanOut("both", [target("writer", "one"), target("judge", "two")]);
    const { twice } = await durable.start("child", child, { n: 4 });
    await durable.sleep("pause", 5);
    const now = await durable.now("now");
    const id = await durable.id("id");
    const name = await durable.ask("name", { question: "Whose night?", choices: ["mine", "yours"] });
    const sure = await durable.approve("sure", "Go on?");
    const heard = await durable.receive("mail");
    return { at, failed, poem, good, both: both.map(({ status }) => status), twice, now: now > 0, id: id !== "", name, sure, heard };
  }, { description: "what happens at night" });
  export default { runners: [nightly, child] };`;

test("a workflow that the config registers is a runner: its operations are the engine's, its code runs in the config's process", async (t) => {
  const { client, project, state } = await opened(t, everything);
  const { runners } = await openProject(project, { state }).runners();
  assert.deepEqual(
    runners.filter(({ of }) => of === "project").map(({ kind, description }) => [kind, description]),
    [
      ["nightly", "what happens at night"],
      ["child", "the workflow child; its prompt is its input, as JSON"],
    ],
  );
  const task = await start(client, project, `{"day": "2026-01-02T00:00:00.000Z"}`);
  const person = { kind: "person", name: "you" } as const;
  const question = await until(async () => (await client.asks()).find(({ kind }) => kind === "question"));
  await client.answer(question.id, { kind: "question", value: "mine" }, person);
  const approval = await until(async () => (await client.asks()).find(({ kind }) => kind === "approval"));
  await client.answer(approval.id, { kind: "approval", approved: true }, person);
  await client.sendMessage(approval.task, "good night");
  const { status, content } = await outcome(client, task);
  assert.equal(status, "completed", JSON.stringify(content));
  assert.deepEqual(content, {
    at: { when: "2026-01-02T00:00:00.000Z", keyed: true },
    failed: "no line",
    poem: "All quiet.",
    good: true,
    both: ["completed", "completed"],
    twice: 8,
    now: true,
    id: true,
    name: "mine",
    sure: true,
    heard: "good night",
  });
  const agents = (await client.tree(task)).map(({ agent }) => agent).toSorted();
  assert.deepEqual(agents, ["child", "invocation", "judge", "judge", "night", "writer", "writer"]);
});

const twoSteps = `
  export default { runners: [workflow("nightly", z.object({ wait: z.string() }), async (durable, { wait }) => {
    const first = await durable.step("first", () => { log("first"); log("pid " + process.pid); return process.pid; });
    await durable.run("poem", "writer", "Write.");
    const unsure = durable.step("charge", async () => { log("charge"); await gone(wait); return "charged"; })
      .catch((error) => error.code);
    const sure = durable.step("look", async () => { log("look"); return gone(wait); }, { repeatable: true });
    return { first, charged: await unsure, last: await sure, pid: process.pid };
  })] };`;

const count = (lines: readonly string[], line: string): number => lines.filter((each) => each === line).length;
const pidIn = (lines: readonly string[]): number => Number(lines.find((line) => line.startsWith("pid "))?.slice(4));

/** What a workflow has to show that was interrupted in its two last steps. */
function goesOn(log: readonly string[], { status, content }: { status: string; content: unknown }): void {
  assert.equal(status, "completed", JSON.stringify(content));
  const { first, charged, last, pid } = content as Record<string, unknown>;
  assert.deepEqual([first, charged], [pidIn(log), "outcome_unknown"]);
  assert.equal(last, pid);
  assert.notEqual(pid, first);
  assert.deepEqual([count(log, "first"), count(log, "charge"), count(log, "look")], [1, 1, 2]);
}

test("when the process of the config ends, the workflow goes on in the next one, and no recorded step is done again (1, 3)", async (t) => {
  const { client, project, log } = await opened(t, twoSteps);
  const go = join(project, "go");
  const task = await start(client, project, JSON.stringify({ wait: go }));
  await until(() => log().includes("look") && log().includes("charge"));
  process.kill(pidIn(log()), "SIGKILL");
  await until(() => count(log(), "look") === 2);
  writeFileSync(go, "");
  goesOn(log(), await outcome(client, task));
  const agents = (await client.tree(task)).map(({ agent }) => agent);
  assert.equal(count(agents, "writer"), 1, "the child that was joined is not spawned again");
});

test("after kill -9 of the daemon a restart finishes the workflow (1, 3)", async (t) => {
  const scene = upScene(t);
  const { project, log } = place(t, twoSteps, scene.folder);
  trustProject(scene.state, project);
  const daemon = await scene.up();
  const client = httpClient({ url: daemon.found.daemon.url, key: daemon.found.key });
  const go = join(project, "go");
  const task = await start(client, project, JSON.stringify({ wait: go }));
  await until(() => log().includes("look") && log().includes("charge"));
  await killChild(daemon.child);
  const next = await scene.up();
  await until(() => count(log(), "look") === 2);
  writeFileSync(go, "");
  const after = httpClient({ url: next.found.daemon.url, key: next.found.key });
  goesOn(log(), await outcome(after, task));
});

test("a workflow that is canceled ends with its children, its step is told, and its process goes on (4)", async (t) => {
  const { client, project, log } = await opened(
    t,
    `export default { runners: [workflow("nightly", z.string(), async (durable) => {
      log("pid " + process.pid);
      void durable.sleep("nobody waits", 60_000);
      await durable.step("long", ({ signal }) => new Promise((_, reject) => {
        signal.addEventListener("abort", () => { log("told"); reject(signal.reason); });
        log("long");
      }));
      log("never");
    })] };`,
  );
  const task = await start(client, project, "go");
  await until(() => log().includes("long"));
  const first = pidIn(log());
  await client.cancel(task, "enough");
  assert.equal((await client.result(task)).status, "canceled");
  await until(() => log().includes("told"));
  const again = await start(client, project, "again");
  await until(() => count(log(), "long") === 2);
  assert.deepEqual(
    log().filter((line) => line.startsWith("pid ")),
    [`pid ${first}`, `pid ${first}`],
  );
  await client.cancel(again, "enough");
  await until(() => count(log(), "told") === 2);
  assert.ok(!log().includes("never"));
});

test("a workflow that ends its process every time fails, and says why", async (t) => {
  const { client, project, log } = await opened(
    t,
    `export default { runners: [workflow("nightly", z.string(), async (durable) => {
      await durable.step("before", () => log("before"));
      await durable.step("fatal", () => { log("fatal"); process.exit(3); }, { repeatable: true });
    })] };`,
  );
  const { status, content } = await outcome(client, await start(client, project, "go"));
  assert.equal(status, "failed");
  assert.match(JSON.stringify(content), /is gone: it ended with status 3/);
  // It got further once, with the step before, so it is tried three times after that.
  assert.deepEqual([count(log(), "before"), count(log(), "fatal")], [1, 4]);
});

test("what a workflow of a config may not do is refused with what to do instead", async (t) => {
  const { client, project } = await opened(
    t,
    `const coded = agent({ name: "coded", instructions: "x", model: "a/b" });
    const says = (work) => work().then(() => "nothing", (error) => error.code + ": " + error.message);
    export default { runners: [workflow("nightly", z.object({ n: z.number() }), async (durable) => [
      await says(async () => durable.port.now("x")),
      await says(() => durable.run("coded", coded, "x")),
      await says(() => durable.run("nobody", "nobody", "x")),
      await says(() => durable.start("other", { name: "other" }, 1)),
      await says(() => durable.step("cyclic", () => { const a = {}; a.a = a; return a; })),
      await says(async () => { await durable.id("twice"); await durable.id("twice"); }),
      await says(() => durable.sleep("endless", NaN)),
    ])] };`,
  );
  const { content } = await outcome(client, await start(client, project, `{"n": 1}`));
  const [port, coded, nobody, other, cyclic, twice, endless] = content as string[];
  assert.match(String(port), /^refused: durable.port is not here/);
  assert.match(String(coded), /^invalid_input: .*by their names, as in `durable.run\(key, "coded", …\)`/);
  assert.match(String(nobody), /^not_found: there is no agent nobody; there are: night, writer, judge/);
  assert.match(String(other), /^not_found: the config has no workflow other among its runners/);
  assert.match(String(cyclic), /^step_failed: the step cyclic returned something that cannot be written as JSON/);
  assert.match(String(twice), /^invalid_input: the key twice was used twice/);
  assert.match(String(endless), /^invalid_input: durable.sleep cannot be done: ms: /);
  const unfit = await outcome(client, await start(client, project, "not a number"));
  assert.match(JSON.stringify(unfit.content), /the input of nightly does not fit its schema/);
  const configured = await outcome(
    client,
    await start(client, project, `{"n": 1}`, { runner: { kind: "nightly", config: { n: 1 } } }),
  );
  assert.match(JSON.stringify(configured.content), /takes its input from the prompt/);
});

test("a workflow runs only the agents that its own agent may call, and gives them no right that it lacks (6)", async (t) => {
  const { client, project } = await opened(
    t,
    `const says = (work) => work().then(() => "nothing", (error) => error.code + ": " + error.message);
    export default { runners: [workflow("nightly", z.string(), async (durable) => [
      await says(() => durable.run("writer", "writer", "x")),
      await says(() => durable.run("judge", "judge", "x")),
    ])] };`,
  );
  const { content } = await outcome(client, await start(client, project, "go", { sub_agents: ["judge"] }));
  assert.deepEqual(content, ["refused: night may not call the agent writer", "nothing"]);
});

test("a workflow whose name no runner may have is told when the config is loaded", async (t) => {
  const { project, state } = place(
    t,
    `export default { runners: [workflow("local", z.string(), async () => 1), workflow("Nightly", z.string(), async () => 1)] };`,
  );
  trustProject(state, project);
  await assert.rejects(openProject(project, { state }).runners(), (error: Error) =>
    /runners\[0\]: kind: is the kind of a built-in runner.*runners\[1\]: kind: must be at most 64 small letters/.test(
      error.message,
    ),
  );
});

test("a workflow that keeps its process from listening is ended with the process", async (t) => {
  const { project } = place(
    t,
    `export default { runners: [workflow("nightly", z.string(), async () => { for (;;); })] };`,
  );
  const files = readConfigFiles(project);
  assert.ok(files !== undefined);
  const process = new ConfigProcess(files, { taken: [], beats: { everyMs: 20, most: 3 } });
  t.after(() => process.close());
  const { signal } = new AbortController();
  const running = process.run((id) => ({
    request: { kind: "run", id, name: "nightly", input: "go", task: "t", attempt: 1, agent: "a" },
    heard: () => undefined,
    signal,
  }));
  await assert.rejects(
    running,
    (thrown: Error) => thrown instanceof LostProcess && /did not let it listen/.test(thrown.message),
  );
});
