// A goal of 100 and of 1,000 tasks whose sessions end at once: what the manager costs beside the engine's own cost for the
// same tree, and that a task does not cost more the more there are. Each size has a process of its own, the best of three.
import { z } from "zod";

import { systemClock } from "../src/engine/clock.ts";
import { Engine } from "../src/engine/engine.ts";
import { managerRunner } from "../src/manager/manager.ts";
import { rehearsalModel } from "../src/model/rehearsal/rehearsal-model.ts";
import type { Durable, NewTask, Runner } from "../src/ports.ts";
import { GoalFile } from "../src/protocol/invocation/goal-file.ts";
import { openStore } from "../src/store/sqlite/sqlite-store.ts";
import { checkEvidence, delegate, metIntegration } from "../test/support/manager-kit.ts";
import { callTools, inFolder, ownProcess, spawnAndJoin } from "./bench-engine.ts";
import { costOf, leastCost, report, round } from "./measure.ts";

const Measured = z.object({ cpuMs: z.number(), wallMs: z.number() });

const wide = { tasks: 1_000_000, tokens: 1e12, money_micro_usd: 1e12, concurrency: 64 };
const rights = { tools: "*" as const, roots: ["/repo"] };
const warmUp = 100;

/** One session: a tool call and an answer, and what its assignment would tell. */
async function session(durable: Durable): Promise<unknown> {
  const claim = await callTools(durable, 1);
  const evidence = checkEvidence(durable);
  durable.tell("evidence", { type: "evidence.added", data: { evidence } });
  const places = { commit: null, tree: null, base: null, branch: null, workspace: null, criteria: [] };
  const handoff = { worker: "rehearsal/script", attempts: 1, hops: 1, retries: 0, revisions: 0 };
  const result = { kind: "assignment", claim, state: "verified", reason: "checked", evidence: [evidence.id] };
  return { ...result, ...places, handoff };
}

function goalOf(count: number): NewTask {
  const tasks = Array.from({ length: count }, (_, at) => ({ id: `t${at}`, prompt: `do part ${at}` }));
  const input = GoalFile.parse({
    goal: { text: "make it green", accept: ["npm test passes"], limits: { tasks: count } },
    script: { rules: [{ raw: delegate(tasks) }] },
  });
  return { runner: { kind: "manager", config: {} }, agent: "manager", input, rights, budget: wide };
}

function plainOf(count: number): NewTask {
  return { runner: { kind: "parent", config: {} }, agent: "parent", input: count, rights, budget: wide };
}

const parent: Runner = (durable) => {
  const input = (at: number) => ({ id: `t${at}`, prompt: `do part ${at}` });
  const children = Array.from({ length: Number(durable.input) }, (_, at): NewTask => ({
    runner: { kind: "assignment", config: {} },
    agent: "worker",
    input: input(at),
    rights,
  }));
  return spawnAndJoin(durable, children);
};

async function measure(kind: string, count: number): Promise<z.infer<typeof Measured>> {
  return inFolder(async (folder) => {
    const store = openStore(folder);
    const manager = managerRunner({
      model: (file) => rehearsalModel(file.script ?? { rules: [] }),
      defaultModel: "rehearsal/script",
      settings: () => Promise.reject(new Error("these goals have their settings")),
      assign: ({ planned: { id, prompt } }) => ({
        runner: { kind: "assignment", config: {} },
        agent: "worker",
        input: { id, prompt },
      }),
      route: () => ({ runner: "local", model: "rehearsal/script", reason: "" }),
      integrate: metIntegration,
    });
    const runners = { manager, parent, assignment: session };
    const engine = new Engine({ store, clock: systemClock, runners, slots: 100_000 });
    const complete = async (tasks: number): Promise<void> => {
      const { task } = await engine.start(kind === "goal" ? goalOf(tasks) : plainOf(tasks));
      const result = await engine.result(task);
      if (result.status !== "completed") throw new Error(JSON.stringify(result));
    };
    for (let n = 0; n < 3; n += 1) await complete(warmUp);
    const cost = await costOf(() => complete(count));
    await engine.stop();
    store.close();
    return cost;
  });
}

const [kind, only] = process.argv.slice(2);
if (kind === undefined) {
  const costs = new Map<string, { cpuMs: number; wallMs: number }>();
  for (const name of ["goal", "tree"]) {
    for (const count of [100, 1_000]) {
      const turns = [1, 2, 3].map(() => Measured.parse(ownProcess(import.meta.filename, [name, String(count)])));
      costs.set(`${name}_${count}`, leastCost(turns));
    }
  }
  const cpuOf = (name: string): number => costs.get(name)?.cpuMs ?? NaN;
  const growth = cpuOf("goal_1000") / 10 / cpuOf("goal_100");
  report({
    name: "manager",
    ratio: cpuOf("goal_100") / cpuOf("tree_100"),
    target: 3,
    figures: {
      ...Object.fromEntries(
        [...costs].map(([name, { cpuMs, wallMs }]) => [name, { cpu_ms: round(cpuMs, 1), wall_ms: round(wallMs, 1) }]),
      ),
      cpu_per_task_1000_to_100: round(growth, 2),
    },
  });
  if (growth > 1.3) {
    console.error(`a task of 1,000 costs ${round(growth, 2)} times one of 100, above 1.3`);
    process.exitCode = 1;
  }
} else console.log(JSON.stringify(await measure(kind, Number(only))));
