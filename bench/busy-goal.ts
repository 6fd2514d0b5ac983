// A goal of thousands of tasks that all work at once, in a real engine with a real store behind the real HTTP service.

import { setTimeout as sleep } from "node:timers/promises";

import type { z } from "zod";

import { goalOfTask } from "../src/core/goal-id.ts";
import type { Durable } from "../src/ports.ts";
import { defaultBudget } from "../src/protocol/index.ts";
import type { PlannedTask } from "../src/protocol/task/goal.ts";
import { type Kit, openKit } from "../test/support/http-kit.ts";
import { Reply, replyAt, ToolOutcome, toolOutcome } from "./bench-engine.ts";

interface BusyGoal {
  readonly kit: Kit;
  /** The address of its page. */
  readonly path: string;
  /** Begins to record so many events a second, all over the tree, until the function that it gives is called. */
  begin(perSecond: number): () => void;
  /** Events that were recorded since it began. */
  sent(): Promise<number>;
}

const usageOf = ({ usage }: z.infer<typeof Reply>) => usage;
const wide = { ...defaultBudget, tasks: 1_000_000, tokens: 1e12, money_micro_usd: 1e12 };

/** `web`: the folder of the built dashboard. `count`: tasks, the manager included. */
export async function busyGoal(web: string, count: number): Promise<BusyGoal> {
  /** Tasks that wait for their next turn, in the order in which they get it. */
  const waiting: (() => void)[] = [];
  const numbers = Array.from({ length: count - 1 }, (_, index) => index + 1);

  /** A reply of the model, which is one event, or the outcome of a tool, which is another. */
  const work = async (durable: Durable): Promise<never> => {
    for (let turn = 0; ; turn += 1) {
      await new Promise<void>((resolve) => waiting.push(resolve));
      if (turn % 3 === 0)
        await durable.step(`tool:${turn}`, { repeatable: true, schema: ToolOutcome }, () => toolOutcome);
      else {
        const said = { repeatable: true, schema: Reply, event: "message.added", spent: usageOf } as const;
        await durable.step(`model:${turn}`, said, () => replyAt(turn, Number.MAX_SAFE_INTEGER));
      }
    }
  };
  const manage = async (durable: Durable): Promise<string> => {
    durable.tell("goal", { type: "goal.created", data: { goal: goalOf(durable.task) } });
    durable.tell("plan", { type: "goal.planned", data: { round: 1, tasks: numbers.map(planned), dropped: [] } });
    const task = { agent: "worker", runner: { kind: "assignment", config: {} }, input: null };
    const ids = await durable.spawn(
      "all",
      numbers.map(() => ({ ...task, rights: { tools: "*", roots: [] } })),
    );
    for (const [index, id] of ids.entries()) {
      durable.tell(`link:${index}`, { type: "goal.linked", data: { task: id, planned: `t${index + 1}` } });
    }
    await durable.join(ids);
    return "done";
  };

  const kit = await openKit({ runners: { manager: manage, assignment: work }, slots: count * 2, http: { web } });
  const task = await kit.start({
    agent: "manager",
    runner: { kind: "manager", config: {} },
    budget: { ...wide, concurrency: count * 2 },
  });
  for (let tries = 0; waiting.length < count - 1; tries += 1) {
    if (tries > 600) throw new Error(`only ${waiting.length} tasks have begun`);
    await sleep(100);
  }
  let from = await kit.state.view.lastEvent();
  return {
    kit,
    path: `/goals/${goalOfTask(task)}`,
    sent: async () => (await kit.state.view.lastEvent()) - from,
    begin(perSecond) {
      let [begun, released] = [performance.now(), 0];
      void kit.state.view.lastEvent().then((last) => (from = last));
      const timer = setInterval(() => {
        const due = Math.floor(((performance.now() - begun) * perSecond) / 1_000);
        for (; released < due; released += 1) waiting.shift()?.();
      }, 20);
      return () => clearInterval(timer);
    },
  };
}

function goalOf(task: string) {
  return {
    id: goalOfTask(task),
    task,
    text: "Everything works at once.",
    status: "in_progress" as const,
    reason: "tasks are at work",
    acceptance: [],
    plan: [],
    links: [],
    notes: [],
    rounds: 1,
    policy: null,
    budget: defaultBudget,
    roots: ["/work"],
    created_at: Date.now(),
    updated_at: Date.now(),
  };
}

/** Each task waits for one of a few before it, so that the graph has many layers and edges. */
function planned(number: number): PlannedTask {
  return {
    id: `t${number}`,
    round: 1,
    prompt: `Do part ${number} of the work, as the plan says.`,
    workdir: "/work",
    kind: "code_change",
    after: number < 40 ? [] : [`t${number - 39}`, `t${Math.floor(number / 2)}`],
    agent: null,
    runtime: null,
    model: null,
    checks: [],
    acceptance: [],
    conf: 0.9,
    risks: [],
    assumptions: [],
    constraints: [],
    supersedes: null,
  };
}
