// The people of the cuts: they start work, answer what is asked, carry out their own tools, cancel, pause and go on.

import { setTimeout as sleep } from "node:timers/promises";

import type { z } from "zod";

import { AskList, Started, WaitList } from "../../../src/protocol/api/task-shapes.ts";
import { count, fault } from "./cuts-ledger.ts";
import { newWork } from "./cuts-work.ts";
import type { World } from "./cuts-world.ts";

const openTrees = 14;

/** Starts work while the cuts last, each under a key of its own, however often it has to be sent. */
export async function startWork(world: World): Promise<void> {
  const { ledger } = world;
  while (!world.over.aborted) {
    const open = [...ledger.started.values()].filter(({ task }) => !world.ends.has(task)).length;
    if (open >= openTrees) await sleep(20);
    else await startOne(world);
  }
}

async function startOne(world: World): Promise<void> {
  const { ledger } = world;
  const key = world.name("key");
  const { kind, body } = newWork(world);
  const start = { method: "POST", path: "/v1/invocations", body, headers: { "idempotency-key": key } } as const;
  const first = await world.ask({ ...start, cuttable: true });
  const started = Started.safeParse(first.json);
  if (!started.success) return fault(ledger, "lost", `${kind} was not started: ${first.status} ${first.text}`);
  const { task } = started.data;
  ledger.started.set(key, { task, kind });
  if (world.chance(0.2)) {
    const again = Started.safeParse((await world.ask(start)).json).data;
    if (again?.task !== task || !again.existed) {
      fault(ledger, "doubled", `${key} made ${task}, and then ${JSON.stringify(again)}`);
    }
  }
  if (kind === "sleep" || world.chance(0.06)) world.aside(cancelLater(world, task));
}

async function cancelLater(world: World, task: string): Promise<void> {
  await sleep(world.between(20, 600));
  world.ledger.canceled.add(task);
  const body = { reason: "no longer wanted" };
  const reply = await world.ask({ method: "POST", path: `/v1/tasks/${task}/cancel`, body, cuttable: true });
  if (reply.status !== 200) fault(world.ledger, "lost", `cancel of ${task}: ${reply.status} ${reply.text}`);
}

/** Answers questions until it is told to stop, every one with a value of its own. */
export async function answerAsks(world: World, stop: AbortSignal): Promise<void> {
  const busy = new Set<string>();
  while (!stop.aborted) {
    const listed = AskList.safeParse((await world.ask({ path: "/v1/asks" })).json);
    for (const ask of listed.data?.asks ?? []) {
      if (busy.has(ask.id) || !world.chance(0.6)) continue;
      busy.add(ask.id);
      world.aside(answerOne(world, ask).finally(() => busy.delete(ask.id)));
    }
    await sleep(world.between(10, 80));
  }
}

async function answerOne(world: World, ask: z.infer<typeof AskList>["asks"][number]): Promise<void> {
  const { ledger } = world;
  const answer =
    ask.kind === "question"
      ? { kind: "question", value: world.name("person") }
      : { kind: "approval", approved: world.chance(0.5) };
  const path = `/v1/asks/${ask.id}`;
  const reply = await world.ask({ method: "POST", path, body: answer, cuttable: true });
  if (reply.status === 200) {
    if (ledger.answers.has(ask.id)) fault(ledger, "doubled", `${ask.id} took two answers`);
    ledger.answers.set(ask.id, answer);
    count(ledger, "answers taken");
    if (!world.chance(0.3)) return;
    const other = ask.kind === "question" ? { ...answer, value: world.name("again") } : answer;
    const second = await world.ask({ method: "POST", path, body: other });
    if (second.status !== 409 && second.status !== 410) {
      fault(ledger, "doubled", `a second answer to ${ask.id}: ${second.status} ${second.text}`);
    }
  } else if (reply.status === 409 || reply.status === 410) count(ledger, "answers too late");
  else fault(ledger, "lost", `answer to ${ask.id}: ${reply.status} ${reply.text}`);
}

/** Carries out the client's own tool. */
export async function settleWaits(world: World, stop: AbortSignal): Promise<void> {
  const { ledger } = world;
  while (!stop.aborted) {
    const listed = WaitList.safeParse((await world.ask({ path: "/v1/waits" })).json);
    for (const { id, label, call } of listed.data?.waits ?? []) {
      if (call === undefined) {
        fault(ledger, "lost", `the wait ${id} (${label}) is shown to people, who cannot settle it`);
        continue;
      }
      const value = world.name("seen");
      const reply = await world.ask({ method: "POST", path: `/v1/waits/${id}`, body: { value }, cuttable: true });
      if (reply.status === 200) {
        if (ledger.settled.has(id)) fault(ledger, "doubled", `${id} was settled twice`);
        ledger.settled.set(id, value);
      } else if (reply.status !== 409 && reply.status !== 410) {
        fault(ledger, "lost", `${id} could not be settled: ${reply.status} ${reply.text}`);
      }
    }
    await sleep(world.between(20, 120));
  }
}

/** Stops all new work for a moment, now and then; whatever is killed meanwhile, the last word acknowledged holds. */
export async function pauseNowAndThen(world: World): Promise<void> {
  const say = async (word: "pause" | "resume"): Promise<void> => {
    world.paused = undefined;
    const reply = await world.ask({ method: "POST", path: `/v1/${word}`, cuttable: true });
    if (reply.status !== 200) fault(world.ledger, "lost", `${word}: ${reply.status} ${reply.text}`);
    world.paused = word === "pause";
    count(world.ledger, word);
  };
  while (!world.over.aborted) {
    await sleep(world.between(800, 2_500), undefined, { signal: world.over }).catch(() => undefined);
    if (world.over.aborted) break;
    await say("pause");
    await sleep(world.between(50, 900));
    await say("resume");
  }
}
