// Drives real coding agents through a real daemon, against a local model: `npm run test:agents`, or with the names of some in
// TUTTI_AGENTS. Each is installed outside of the project first, which needs the registry once.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { httpClient } from "../../src/client/http-client.ts";
import type { Tutti } from "../../src/client/client.ts";
import { Answer } from "../../src/protocol/task/ask.ts";
import type { TaskEvent } from "../../src/protocol/task/event.ts";
import { named, single } from "../../src/protocol/invocation/invocation-builders.ts";
import { testRepository, type TestRepository } from "../support/git-kit.ts";
import { type UpProcess, type UpScene, upScene } from "../support/up-process.ts";
import { until } from "../support/wait-until.ts";
import { type AgentName, codingAgents, installAgent, profileAt } from "./coding-agents.ts";
import { type ShellCallModel, shellCallModel } from "./shell-call-model.ts";

const person = { kind: "person", name: "Ada" } as const;
const wanted = (process.env["TUTTI_AGENTS"] ?? Object.keys(codingAgents).join(",")).split(",");
const command = "echo made > made.txt";

interface Stage {
  readonly scene: UpScene;
  readonly daemon: UpProcess;
  readonly tutti: Tutti;
  readonly model: ShellCallModel;
  readonly repository: TestRepository;
  readonly root: string;
}

for (const name of wanted.filter((each): each is AgentName => each in codingAgents)) {
  describe(name, { concurrency: 1, timeout: 600_000 }, () => {
    test("is asked about its command; with a yes its change is a branch, and the checkout is untouched", async (t) => {
      const stage = await started(t, name);
      const { tutti, root, repository } = stage;
      const question = await answered(stage, true);
      assert.ok(question.includes(command), question);
      const { status } = await tutti.result(root, AbortSignal.timeout(90_000));
      const saved = await lastOf(tutti, root, "session.saved");
      assert.equal(status, "completed");
      assert.ok(saved !== undefined && saved.files === 1, JSON.stringify(saved));
      assert.equal(repository.git("show", `${saved.branch ?? ""}:made.txt`), "made");
      assert.equal(repository.git("status", "--porcelain"), "");
      assert.deepEqual(processesNaming(stage), []);
    });

    test("takes a goal to a verified result: its work is checked by Tutti and merged into one branch", async (t) => {
      const stage = await prepared(t, name);
      const { tutti, repository } = stage;
      const task = { id: "make", workdir: ".", kind: "code_change", prompt: "Make the file made.txt.", conf: 0.95 };
      const raw = JSON.stringify({ action: "delegate", tasks: [task] });
      const { goal, task: root } = await tutti.startGoal({
        text: "There is a file made.txt.",
        folder: repository.folder,
        accept: ["`test -e made.txt` succeeds"],
        checks: ["test -e made.txt"],
        model: `acp:${name}`,
        script: { rules: [{ agent: "manager", raw }] },
      });
      await answered({ ...stage, root }, true);
      await allowed({ ...stage, root });
      const { status, reason, criteria, tasks, integration } = await tutti.goalReport(goal);
      assert.equal(status, "done", reason);
      assert.deepEqual([criteria[0]?.state, tasks[0]?.state], ["met", "verified"]);
      assert.ok(tasks[0]?.proof.some(({ kind, verdict }) => kind === "check" && verdict === "supports"));
      assert.equal(repository.git("show", `${integration?.branch ?? ""}:made.txt`), "made");
      assert.equal(repository.git("status", "--porcelain"), "");
      assert.deepEqual(processesNaming({ ...stage, root }), []);
    });

    test("changes nothing when it is told no", async (t) => {
      const stage = await started(t, name);
      await answered(stage, false);
      await stage.tutti.settled(stage.root, AbortSignal.timeout(90_000));
      const folder = (await lastOf(stage.tutti, stage.root, "session.started"))?.folder ?? "";
      assert.ok(folder !== "" && !existsSync(join(folder, "made.txt")));
      assert.equal(stage.repository.git("status", "--porcelain"), "");
    });

    test("ends with all of its processes when its task is canceled", async (t) => {
      const stage = await started(t, name, { silent: true });
      await atWork(stage);
      await stage.tutti.cancel(stage.root, "enough");
      await until(() => processesNaming(stage).length === 0);
      assert.equal((await stage.tutti.result(stage.root)).status, "canceled");
    });

    test("that is killed fails its task and says so, and leaves no process", async (t) => {
      const stage = await started(t, name, { silent: true });
      await atWork(stage);
      for (const pid of processesNaming(stage)) kill(pid);
      await stage.tutti.settled(stage.root, AbortSignal.timeout(90_000));
      const [, session] = await stage.tutti.tree(stage.root);
      assert.equal(session?.status, "failed", JSON.stringify(session));
      assert.deepEqual(processesNaming(stage), []);
    });

    test("is taken up again after the daemon was killed, or its outcome is said to be unknown", async (t) => {
      const stage = await started(t, name, { silent: true });
      await atWork(stage);
      stage.daemon.child.kill("SIGKILL");
      await stage.daemon.ended;
      stage.model.silent = false;
      const { found } = await stage.scene.up();
      const tutti = httpClient({ url: found.daemon.url, key: found.key });
      t.after(() => tutti.close());
      const again = { ...stage, tutti };
      await allowed(again);
      const [, session] = await tutti.tree(stage.root);
      const sessions = await eventsOf(tutti, stage.root, "session.started");
      const text = JSON.stringify([session?.status, session?.result_preview, sessions.map(({ resumed }) => resumed)]);
      t.diagnostic(text);
      if (session?.status === "completed") assert.equal(sessions.at(-1)?.resumed, true, text);
      else assert.match(text, /cut off|outcome_unknown|part of its work/, text);
      assert.deepEqual(processesNaming(stage), []);
    });
  });
}

async function started(t: TestContext, name: AgentName, { silent = false } = {}): Promise<Stage> {
  const stage = await prepared(t, name, { silent });
  const executor = { kind: "force", type: "remote", runner: { kind: "acp", config: { profile: name } } } as const;
  const invocation = single(named("coder", "Make the file made.txt."), { executor });
  const text = JSON.stringify({ invocation, agents: { coder: { instructions: "You make files." } }, roots: ["."] });
  const { task: root } = await stage.tutti.invoke(text, { folder: stage.repository.folder });
  return { ...stage, root };
}

async function prepared(t: TestContext, name: AgentName, { silent = false } = {}): Promise<Omit<Stage, "root">> {
  const folder = await installAgent(name);
  const model = await shellCallModel(t, codingAgents[name].wire, command);
  model.silent = silent;
  const scene = upScene(t);
  const repository = testRepository(t);
  mkdirSync(join(scene.folder, ".tutti"), { mode: 0o700 });
  const acp = { profiles: { [name]: profileAt(name, model.origin, folder) }, toolchains: [folder] };
  writeFileSync(join(scene.folder, ".tutti", "tutti.config.json"), JSON.stringify({ acp }), { mode: 0o600 });
  const daemon = await scene.up();
  const tutti = httpClient({ url: daemon.found.daemon.url, key: daemon.found.key });
  t.after(() => tutti.close());
  return { scene, daemon, tutti, model, repository };
}

/** Returns when the agent has asked its model for the first time; agrees to whatever is asked before that. */
async function atWork({ tutti, root, model }: Stage): Promise<void> {
  for (const end = Date.now() + 120_000; Date.now() < end && model.asked() === 0; await sleep(100)) {
    for (const { id, kind } of await tutti.asks(root)) {
      const yes = kind === "budget" ? { kind, go_on: true } : { kind: "approval", approved: true };
      await tutti.answer(id, Answer.parse(yes), person);
    }
  }
  assert.ok(model.asked() > 0, JSON.stringify(await tutti.tree(root)));
}

/** Answers what is asked until the first permission was asked for; returns that question. */
async function answered({ tutti, root }: Stage, approved: boolean): Promise<string> {
  for (const end = Date.now() + 120_000; Date.now() < end; await sleep(200)) {
    const { status } = await tutti.task(root);
    if (status !== "running" && status !== "pending" && status !== "input_required") break;
    for (const { id, kind } of await tutti.asks(root)) {
      const ask = await tutti.ask(id).catch(() => undefined);
      if (ask === undefined) continue;
      if (kind === "budget") await tutti.answer(id, { kind, go_on: true }, person);
      else if (/echo made/.test(ask.question)) {
        await tutti.answer(id, Answer.parse({ kind: "approval", approved }), person);
        return ask.question;
      } else await tutti.answer(id, Answer.parse({ kind: "approval", approved: true }), person);
    }
  }
  throw new Error(`no permission was asked for: ${JSON.stringify(await tutti.tree(root))}`);
}

/** Agrees to whatever is still asked until the tree has ended. */
async function allowed({ tutti, root }: Stage): Promise<void> {
  for (const end = Date.now() + 120_000; Date.now() < end; await sleep(200)) {
    const { status } = await tutti.task(root);
    if (status !== "running" && status !== "pending" && status !== "input_required") return;
    for (const { id, kind } of await tutti.asks(root)) {
      const yes = kind === "budget" ? { kind, go_on: true } : { kind: "approval", approved: true };
      await tutti.answer(id, Answer.parse(yes), person);
    }
  }
  const open = { asks: await tutti.asks(root), tree: await tutti.tree(root) };
  throw new Error(
    `it did not end: ${JSON.stringify({ ...open, last: (await tutti.events({ task: root, after: 0, limit: 5_000 })).slice(-5) })}`,
  );
}

type DataOf<T extends TaskEvent["type"]> = Extract<TaskEvent, { type: T }>["data"];

async function eventsOf<T extends TaskEvent["type"]>(tutti: Tutti, task: string, type: T): Promise<DataOf<T>[]> {
  const events = await tutti.events({ task, after: 0, limit: 5_000 });
  return events.flatMap((event) => (event.type === type ? [event.data as DataOf<T>] : []));
}

async function lastOf<T extends TaskEvent["type"]>(
  tutti: Tutti,
  task: string,
  type: T,
): Promise<DataOf<T> | undefined> {
  return (await eventsOf(tutti, task, type)).at(-1);
}

/** Processes with the folder of the state or of the sessions in their command or environment, but for the daemon. */
function processesNaming({ scene, daemon }: Stage): number[] {
  return readdirSync("/proc").flatMap((entry) => {
    const pid = Number(entry);
    if (!Number.isInteger(pid) || pid === process.pid || pid === daemon.child.pid) return [];
    try {
      const about = ["cmdline", "environ"].map((file) => readFileSync(`/proc/${pid}/${file}`, "latin1")).join("\0");
      const isSession = about.includes(join(scene.state, "sessions")) && !about.includes("tutti.js\0up");
      return isSession && !/^State:\s*Z/m.test(readFileSync(`/proc/${pid}/status`, "latin1")) ? [pid] : [];
    } catch {
      return [];
    }
  });
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It ended meanwhile.
  }
}
