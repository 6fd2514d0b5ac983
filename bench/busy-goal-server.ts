// Serves the built dashboard and one goal of thousands of tasks that all work at once: what the page reads, and a stream of events.

import { createReadStream, existsSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { extname, join } from "node:path";

import type { GoalView, TaskEvent, TaskSummary } from "../src/client/index.ts";
import { defaultBudget } from "../src/protocol/index.ts";

const root = "tsk_bench_1";
export const goalPath = "/goals/gol_bench_1";
const types: Readonly<Record<string, string>> = { ".js": "text/javascript", ".css": "text/css", ".html": "text/html" };

interface BusyGoal {
  readonly server: Server;
  /** Begins to send so many events a second, until the function that it gives is called. */
  begin(perSecond: number): () => void;
  readonly sent: () => number;
}

/** `web`: the folder of the built dashboard. */
export function busyGoalServer(web: string, count: number): BusyGoal {
  const begunAt = Date.now();
  const tasks = Array.from({ length: count }, (_, index) => taskSummary(index, begunAt));
  const goal = goalOf(count, begunAt);
  const streams = new Set<ServerResponse>();
  let seq = 1;
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://localhost");
    if (pathname === "/v1/events") return openStream(request, response, streams);
    const reply = replyTo(pathname, searchParams.get("cursor"), { tasks, goal, seq });
    if (reply !== undefined) {
      response.writeHead(200, { "content-type": "application/json" });
      return void response.end(JSON.stringify(reply));
    }
    if (pathname.startsWith("/v1/")) return void response.writeHead(404).end();
    const named = join(web, pathname);
    const file =
      pathname.includes(".") && !pathname.includes("..") && existsSync(named) ? named : join(web, "index.html");
    response.writeHead(200, { "content-type": types[extname(file)] ?? "image/svg+xml" });
    createReadStream(file).pipe(response);
  });
  return {
    server,
    sent: () => seq - 1,
    begin(perSecond) {
      const timer = setInterval(() => {
        for (let each = 0; each < perSecond / 20; each += 1) {
          seq += 1;
          const line = `id: ${seq}\ndata: ${JSON.stringify(eventAt(seq, count))}\n\n`;
          for (const stream of streams) stream.write(line);
        }
      }, 50);
      return () => clearInterval(timer);
    },
  };
}

function openStream(request: IncomingMessage, response: ServerResponse, streams: Set<ServerResponse>): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(": hello\n\n");
  streams.add(response);
  request.on("close", () => streams.delete(response));
}

const idOf = (index: number): string => `tsk_bench_${index + 1}`;

function taskSummary(index: number, at: number): TaskSummary {
  return {
    id: idOf(index),
    parent: index === 0 ? null : root,
    root,
    depth: index === 0 ? 0 : 1,
    agent: index === 0 ? "manager" : "worker",
    runner: index === 0 ? "manager" : "assignment",
    detached: false,
    status: "running",
    attempt: 1,
    run: 1,
    created_at: at,
    ended_at: null,
    steps: 3,
    tokens: 1_000,
    money_micro_usd: 2_000,
    result_preview: null,
  };
}

/** Each task waits for one of a few before it, so that the graph has many layers and edges. */
function goalOf(count: number, at: number): GoalView {
  const numbers = Array.from({ length: count - 1 }, (_, index) => index + 1);
  return {
    id: "gol_bench_1",
    task: root,
    text: "Everything works at once.",
    status: "in_progress",
    reason: "tasks are at work",
    acceptance: [],
    plan: numbers.map((number) => ({
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
    })),
    links: numbers.map((number) => ({
      task: idOf(number),
      planned: `t${number}`,
      state: "running" as const,
      superseded_by: null,
      evidence: [],
    })),
    notes: [],
    rounds: 1,
    policy: null,
    budget: defaultBudget,
    roots: ["/work"],
    created_at: at,
    updated_at: at,
    progress: 0,
    missing: [],
  };
}

/** Steps and messages of tasks all over the tree, as running sessions record them. */
function eventAt(seq: number, count: number): TaskEvent {
  const task = idOf(1 + ((seq * 7_919) % (count - 1)));
  const of = { seq, at: Date.now(), task, root, attempt: 1, run: 1 };
  if (seq % 3 === 0) {
    const data = { key: `tool:${seq}`, outcome: "ok" as const, tokens: 0, money_micro_usd: 0 };
    return { ...of, type: "step.finished", data };
  }
  const message = {
    id: `m${seq}`,
    name: null,
    role: "assistant" as const,
    parts: [{ part_type: "text" as const, data: `Reply ${seq}: ${"words ".repeat(40)}` }],
    created_at: of.at,
  };
  return {
    ...of,
    type: "message.added",
    data: { message, step: { key: `model:${seq}`, tokens: 90, money_micro_usd: 40 } },
  };
}

function replyTo(
  path: string,
  cursor: string | null,
  { tasks, goal, seq }: { readonly tasks: readonly TaskSummary[]; readonly goal: GoalView; readonly seq: number },
): unknown {
  if (path === `/v1/tasks/${root}/tree`) {
    const from = Number(cursor ?? 0);
    const next = from + 1_000 < tasks.length ? String(from + 1_000) : null;
    return { tasks: tasks.slice(from, from + 1_000), next };
  }
  const { id, task, text, status, reason, progress, created_at, updated_at } = goal;
  const replies: Readonly<Record<string, unknown>> = {
    "/v1/status": {
      instance: "bench",
      version: "0.0.0",
      url: null,
      pid: 1,
      state: "/tmp",
      started_at: created_at,
      starting: false,
      paused: false,
      degraded: null,
      tasks: { pending: 0, running: tasks.length, input_required: 0 },
      asks: 0,
      operators: { joined: 0, connected: 0 },
      resumed: 0,
      parked: [],
      seq,
    },
    "/v1/asks": { asks: [], next: null },
    [`/v1/goals/${id}`]: goal,
    [`/v1/goals/${id}/report`]: {
      goal: id,
      task,
      text,
      status,
      reason,
      progress,
      created_at,
      updated_at,
      rehearsal: false,
      criteria: [],
      tasks: [],
      not_proven: [],
      dropped: [],
      notes: [],
      integration: null,
      rounds: 1,
      tokens: 0,
      money_micro_usd: 0,
      unpriced: false,
    },
  };
  return replies[path];
}
