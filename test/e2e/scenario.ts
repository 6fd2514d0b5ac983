// What every end-to-end scenario does with a daemon: start a task, wait for an event, answer a question, read the log.

import assert from "node:assert/strict";

import type { Tutti } from "../../src/client/client.ts";
import type { TaskEvent } from "../../src/protocol/task/event.ts";
import type { TaskId } from "../../src/protocol/ids.ts";
import type { OpenAsk } from "../../src/protocol/api/task-shapes.ts";
import type { DaemonProcess } from "./daemon-process.ts";

const patienceMs = 240_000;
const me = { kind: "person", name: "test" } as const;

export type EventOf<T extends TaskEvent["type"]> = Extract<TaskEvent, { type: T }>;

export interface Scenario {
  readonly client: Tutti;
  start(text: string, key?: string): Promise<TaskId>;
  /** The first event of that type in the tree which fits, whether it has happened or happens yet. */
  happened<T extends TaskEvent["type"]>(
    root: TaskId,
    type: T,
    fits?: (event: EventOf<T>) => boolean,
  ): Promise<EventOf<T>>;
  /** The first open question of the tree. */
  asked(root: TaskId): Promise<OpenAsk>;
  answer(ask: OpenAsk, value: unknown): ReturnType<Tutti["answer"]>;
  /** Its single target's end, as text: `completed: …`. */
  outcome(root: TaskId): Promise<string>;
  log(root?: TaskId): Promise<TaskEvent[]>;
}

export function scenarioOf(daemon: DaemonProcess): Scenario {
  const client = daemon.client();
  const scenario: Scenario = {
    client,
    async start(text, key) {
      const { task } = await client.invoke(text, {
        folder: daemon.folder,
        anew: key === undefined,
        ...(key === undefined ? {} : { key }),
      });
      return task;
    },
    async happened(root, type, fits = () => true) {
      const isIt = (event: TaskEvent): event is EventOf<typeof type> =>
        event.type === type && fits(event as EventOf<typeof type>);
      const signal = AbortSignal.timeout(patienceMs);
      for await (const followed of client.follow({ task: root, signal })) {
        if ("event" in followed && isIt(followed.event)) return followed.event;
      }
      const types = (await scenario.log(root)).map((event) => event.type);
      throw new Error(`no ${type} in ${root}; there was: ${types.join(", ")}`);
    },
    async asked(root) {
      const { data } = await scenario.happened(root, "ask.raised");
      assert.ok(
        (await client.asks(root)).some(({ id }) => id === data.ask.id),
        `${data.ask.id} is open`,
      );
      return client.ask(data.ask.id);
    },
    answer: (ask, value) =>
      client.answer(
        ask.id,
        ask.kind === "question" ? { kind: "question", value } : { kind: "approval", approved: value },
        me,
      ),
    async outcome(root) {
      await client.result(root, AbortSignal.timeout(patienceMs));
      const child = (await client.tree(root)).find(({ parent }) => parent === root);
      assert.ok(child, `${root} has a target`);
      const { status, result } = await client.task(child.id);
      return `${status}: ${typeof result === "string" ? result : JSON.stringify(result)}`;
    },
    async log(root) {
      const events: TaskEvent[] = [];
      for (let after = 0; ;) {
        const page = await client.events({ after, limit: 1000, ...(root === undefined ? {} : { task: root }) });
        const last = page.at(-1);
        if (last === undefined) return events;
        events.push(...page);
        after = last.seq;
      }
    },
  };
  return scenario;
}
