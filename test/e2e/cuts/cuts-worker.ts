// A worker in the cuts: it does one spawned task over HTTP, and also posts again what must be refused.

import { setTimeout as sleep } from "node:timers/promises";

import type { z } from "zod";

import type { SpawnFrame } from "../../../src/protocol/operator/frames.ts";
import {
  WorkerAskAnswer,
  WorkerEventsAccepted,
  WorkerPrompt,
  WorkerRecorded,
  WorkerRefusal,
} from "../../../src/protocol/operator/worker.ts";
import type { Reply, Sending } from "../send-json.ts";
import { count, fault } from "./cuts-ledger.ts";
import type { CutsRun } from "./cuts-run.ts";

interface Job {
  readonly run: CutsRun;
  readonly task: string;
  readonly attempt: number;
  readonly name: string;
  bearer: string;
}

/** When the prompt of an attempt was fetched, by task and attempt; from then on it may not be offered again. */
export type Fetched = Map<string, number>;

export const placeOf = ({ task_id, attempt }: Pick<SpawnFrame, "task_id" | "attempt">): string =>
  `${task_id}/${attempt}`;

/** Resolves when it has nothing left to do, whether its result counted or not. */
export async function workOn(run: CutsRun, frame: SpawnFrame, fetched: Fetched): Promise<void> {
  const { task_id: task, attempt, worker_handle, capability_token } = frame;
  const bearer = worker_handle === undefined || run.chance(0.3) ? capability_token : worker_handle;
  const job: Job = { run, task, attempt, name: run.name("worker"), bearer };
  const prompt = await call(job, { path: `/v1/worker/prompt?task_id=${encodeURIComponent(task)}` }, WorkerPrompt);
  if (prompt === undefined) return;
  if (!fetched.has(placeOf(frame))) fetched.set(placeOf(frame), performance.now());
  for (let posts = Math.floor(run.between(0, 4)); posts > 0; posts -= 1) {
    if (!(await progress(job))) return;
    await sleep(run.between(0, 60));
  }
  if (run.chance(0.25) && !(await ask(job))) return;
  await handIn(job);
}

/** Every try has a text of its own: one that was acknowledged must be there once, the others at most once. */
async function progress(job: Job): Promise<boolean> {
  const { run, task } = job;
  for (let tries = 0; tries < 2_000; tries += 1) {
    const text = run.name(`${job.name} step`);
    const entry = { task, acknowledged: false };
    run.ledger.progress.set(text, entry);
    const body = { events: [{ type: "progress", text }] };
    const posting = { method: "POST", path: "/v1/worker/events", bearer: job.bearer, body, cuttable: true } as const;
    const reply = await run.askOnce(posting);
    if (reply === undefined) {
      await sleep(run.between(5, 40));
      continue;
    }
    const accepted = read(job, posting, reply, WorkerEventsAccepted);
    if (accepted === undefined) return false;
    entry.acknowledged = true;
    count(run.ledger, "progress kept");
    if (run.chance(0.5)) job.bearer = accepted.capability_token;
    return true;
  }
  throw new Error(`no progress of ${job.name} was taken`);
}

async function ask(job: Job): Promise<boolean> {
  const { run, task } = job;
  const question = `${job.name} wonders`;
  const body = { key: job.name, question: { question }, wait_ms: 400 };
  for (let tries = 0; tries < 2_000; tries += 1) {
    const answer = await call(job, { method: "POST", path: "/v1/worker/ask", body }, WorkerAskAnswer);
    if (answer === undefined) return false;
    if (answer.state === "waiting") continue;
    if (answer.state === "expired") fault(run.ledger, "lost", `the question of ${job.name} expired`);
    else run.ledger.workerAnswers.push({ task, question, value: answer.value });
    count(run.ledger, "workers answered");
    return true;
  }
  throw new Error(`${job.name} got no answer`);
}

async function handIn(job: Job): Promise<void> {
  const { run, task, attempt } = job;
  const { ledger } = run;
  const text = run.name(`made by ${job.name}`);
  // The effect comes before the result is acknowledged, as it does outside.
  ledger.effects.push({ task, attempt, text });
  const posting = postOf(run, task, text);
  const recorded = await call(job, posting, WorkerRecorded);
  if (recorded === undefined) return count(ledger, "results refused");
  if (ledger.results.has(task)) fault(ledger, "doubled", `${task} took a second result, ${text}`);
  ledger.results.set(task, { attempt, text });
  count(ledger, recorded.already ? "results found recorded" : "results taken");
  if (run.chance(0.3)) await again(job, posting);
  if (run.chance(0.3)) await other(job, `another by ${job.name}`);
  if (run.chance(0.15)) run.aside(late(job, posting));
}

function postOf(run: CutsRun, task: string, text: string): Sending {
  return run.chance(0.5)
    ? { method: "POST", path: "/v1/worker/submit", body: text }
    : { method: "POST", path: "/v1/worker/result", body: { task_id: task, value: text } };
}

/** The same one again is told that it is recorded. */
async function again(job: Job, posting: Sending): Promise<void> {
  const reply = await job.run.ask({ ...posting, bearer: job.bearer });
  const recorded = WorkerRecorded.safeParse(reply.json);
  if (reply.status === 200 && recorded.data?.already === true) return count(job.run.ledger, "told recorded already");
  fault(job.run.ledger, "doubled", `the same result of ${job.name} again: ${reply.status} ${reply.text}`);
}

async function other(job: Job, text: string): Promise<void> {
  const reply = await job.run.ask({ method: "POST", path: "/v1/worker/submit", body: text, bearer: job.bearer });
  if (reply.status !== 409 && reply.status !== 410) {
    fault(job.run.ledger, "doubled", `another result of ${job.name}: ${reply.status} ${reply.text}`);
  }
}

/** After the task has ended: the same result is still known, another one is still refused. */
async function late(job: Job, posting: Sending): Promise<void> {
  for (let looks = 0; looks < 400 && !job.run.ends.has(job.task); looks += 1) await sleep(10);
  if (!job.run.ends.has(job.task)) return;
  await other(job, `late by ${job.name}`);
  if (job.run.ends.get(job.task)?.type === "task.completed") await again(job, posting);
  count(job.run.ledger, "posts after the end");
}

async function call<S extends z.ZodType>(job: Job, sending: Sending, schema: S): Promise<z.infer<S> | undefined> {
  const posting = { ...sending, bearer: job.bearer, cuttable: true };
  return read(job, posting, await job.run.ask(posting), schema);
}

/** Undefined when the attempt is over, or when another worker of it was first. */
function read<S extends z.ZodType>(job: Job, sending: Sending, reply: Reply, schema: S): z.infer<S> | undefined {
  const value = reply.status === 200 ? schema.safeParse(reply.json) : undefined;
  if (value?.success === true) return value.data;
  const reason = WorkerRefusal.safeParse(reply.json).data?.error;
  if (reason !== "attempt_over" && reason !== "already_posted") {
    fault(job.run.ledger, "lost", `${job.name} ${sending.path}: ${reply.status} ${reply.text.slice(0, 300)}`);
  }
  return undefined;
}
