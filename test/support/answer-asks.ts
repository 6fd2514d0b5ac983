// Answers what a task asks, as a person at a terminal would, until it has ended.

import { setTimeout as sleep } from "node:timers/promises";

import type { Tutti } from "../../src/client/client.ts";
import type { AgentResult } from "../../src/protocol/invocation/invocation-result.ts";
import type { Ask } from "../../src/protocol/task/ask.ts";

const patienceMs = 240_000;

/** Gives the result of the task and everything that was asked; `yes` decides about each ask. */
export async function answerAsks(
  tutti: Tutti,
  task: string,
  yes: (ask: Ask) => boolean,
): Promise<{ readonly result: AgentResult; readonly asked: readonly Ask[] }> {
  const asked: Ask[] = [];
  let result: AgentResult | undefined;
  const ended = tutti.result(task, AbortSignal.timeout(patienceMs)).then((found) => (result = found));
  ended.catch(() => undefined);
  for (const until = Date.now() + patienceMs; result === undefined && Date.now() < until; await sleep(30)) {
    for (const listed of await tutti.asks()) {
      if (listed.root !== task || asked.some(({ id }) => id === listed.id)) continue;
      const ask = await tutti.ask(listed.id);
      asked.push(ask);
      await tutti.answer(ask.id, { kind: "approval", approved: yes(ask) }, { kind: "person", name: "test" });
    }
  }
  return { result: await ended, asked };
}

/** Whether it is asked to trust a config, and not about a call. */
export function isAboutTrust({ details }: Ask): boolean {
  return typeof details === "object" && details !== null && "hash" in details && "files" in details;
}
