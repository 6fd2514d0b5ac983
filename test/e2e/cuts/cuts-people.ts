// The people in the cuts: they start work, answer questions, carry out client tools, cancel, pause and resume.

import { setTimeout as sleep } from "node:timers/promises";

import type { z } from "zod";

import { AskList, Started, WaitList } from "../../../src/protocol/api/task-shapes.ts";
import { count, fault } from "./cuts-ledger.ts";
import { newWork } from "./cuts-invocations.ts";
import type { CutsRun } from "./cuts-run.ts";

const openTrees = 14;

/** Starts work while the cuts last, each under a key of its own, however often it has to be sent. */
export async function startWork(run: CutsRun): Promise<void> {
  const { ledger } = run;
  while (!run.over.aborted) {
    const open = [...ledger.started.values()].filter(({ task }) => !run.ends.has(task)).length;
    if (open >= openTrees) await sleep(20);
    else await startOne(run);
  }
}

async function startOne(run: CutsRun): Promise<void> {
  const { ledger } = run;
  const key = run.name("key");
  const { kind, body } = newWork(run);
  const start = { method: "POST", path: "/v1/invocations", body, headers: { "idempotency-key": key } } as const;
  const first = await run.ask({ ...start, cuttable: true });
  const started = Started.safeParse(first.json);
  if (!started.success) return fault(ledger, "lost", `${kind} was not started: ${first.status} ${first.text}`);
  const { task } = started.data;
  ledger.started.set(key, { task, kind });
  if (run.chance(0.2)) {
    const again = Started.safeParse((await run.ask(start)).json).data;
    if (again?.task !== task || !again.existed) {
      fault(ledger, "doubled", `${key} made ${task}, and then ${JSON.stringify(again)}`);
    }
  }
  if (kind === "sleep" || run.chance(0.06)) run.aside(cancelLater(run, task));
}

async function cancelLater(run: CutsRun, task: string): Promise<void> {
  await sleep(run.between(20, 600));
  run.ledger.canceled.add(task);
  const body = { reason: "no longer wanted" };
  const reply = await run.ask({ method: "POST", path: `/v1/tasks/${task}/cancel`, body, cuttable: true });
  if (reply.status !== 200) fault(run.ledger, "lost", `cancel of ${task}: ${reply.status} ${reply.text}`);
}

/** Answers questions until it is told to stop, every one with a value of its own. */
export async function answerAsks(run: CutsRun, stop: AbortSignal): Promise<void> {
  const busy = new Set<string>();
  while (!stop.aborted) {
    const listed = AskList.safeParse((await run.ask({ path: "/v1/asks" })).json);
    for (const ask of listed.data?.asks ?? []) {
      if (busy.has(ask.id) || !run.chance(0.6)) continue;
      busy.add(ask.id);
      run.aside(answerOne(run, ask).finally(() => busy.delete(ask.id)));
    }
    await sleep(run.between(10, 80));
  }
}

/** Whether a task asks if it may go on after it was running at the end of several processes in a row. */
export function isParking(question: string): boolean {
  return question.startsWith("This task was running when the process ended");
}

async function answerOne(run: CutsRun, ask: z.infer<typeof AskList>["asks"][number]): Promise<void> {
  const { ledger } = run;
  // A task that many cuts met in a row is parked, as it should be. Its person knows who pulls the plug, and goes on.
  const isParked = isParking(ask.question);
  if (isParked) count(ledger, "parked and resumed");
  const answer =
    ask.kind === "question"
      ? { kind: "question", value: run.name("person") }
      : { kind: "approval", approved: isParked || run.chance(0.5) };
  const path = `/v1/asks/${ask.id}`;
  const reply = await run.ask({ method: "POST", path, body: answer, cuttable: true });
  if (reply.status === 200) {
    if (ledger.answers.has(ask.id)) fault(ledger, "doubled", `${ask.id} took two answers`);
    ledger.answers.set(ask.id, answer);
    count(ledger, "answers taken");
    if (!run.chance(0.3)) return;
    const other = ask.kind === "question" ? { ...answer, value: run.name("again") } : answer;
    const second = await run.ask({ method: "POST", path, body: other });
    if (second.status !== 409 && second.status !== 410) {
      fault(ledger, "doubled", `a second answer to ${ask.id}: ${second.status} ${second.text}`);
    }
  } else if (reply.status === 409 || reply.status === 410) count(ledger, "answers too late");
  else fault(ledger, "lost", `answer to ${ask.id}: ${reply.status} ${reply.text}`);
}

/** Carries out the client's own tool. */
export async function settleWaits(run: CutsRun, stop: AbortSignal): Promise<void> {
  const { ledger } = run;
  while (!stop.aborted) {
    const listed = WaitList.safeParse((await run.ask({ path: "/v1/waits" })).json);
    for (const { id, label, call } of listed.data?.waits ?? []) {
      if (call === undefined) {
        fault(ledger, "lost", `the wait ${id} (${label}) is shown to people, who cannot settle it`);
        continue;
      }
      const value = run.name("seen");
      const reply = await run.ask({ method: "POST", path: `/v1/waits/${id}`, body: { value }, cuttable: true });
      if (reply.status === 200) {
        if (ledger.settled.has(id)) fault(ledger, "doubled", `${id} was settled twice`);
        ledger.settled.set(id, value);
      } else if (reply.status !== 409 && reply.status !== 410) {
        fault(ledger, "lost", `${id} could not be settled: ${reply.status} ${reply.text}`);
      }
    }
    await sleep(run.between(20, 120));
  }
}

/** Stops all new work for a moment, now and then; whatever is killed meanwhile, the last word acknowledged holds. */
export async function pauseNowAndThen(run: CutsRun): Promise<void> {
  const say = async (word: "pause" | "resume"): Promise<void> => {
    run.paused = undefined;
    const reply = await run.ask({ method: "POST", path: `/v1/${word}`, cuttable: true });
    if (reply.status !== 200) fault(run.ledger, "lost", `${word}: ${reply.status} ${reply.text}`);
    run.paused = word === "pause";
    count(run.ledger, word);
  };
  while (!run.over.aborted) {
    await sleep(run.between(800, 2_500), undefined, { signal: run.over }).catch(() => undefined);
    if (run.over.aborted) break;
    await say("pause");
    await sleep(run.between(50, 900));
    await say("resume");
  }
}
