import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test, type TestContext } from "node:test";

import { type Kit, openKit } from "../../../test/support/http-kit.ts";
import { agent, completed, created, eventsOf, started, top } from "../../../test/support/task-events.ts";
import type { EventOrDelta, Tutti } from "../../client/client.ts";
import { httpClient } from "../../client/http-client.ts";
import { isSettled } from "../../core/fold-tree.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { TaskView } from "../../protocol/task/task-view.ts";
import { watchTask } from "./watch-task.ts";

const example = (name: string): string =>
  readFileSync(join(import.meta.dirname, "../../../examples/invocations", `${name}.json`), "utf8");

/** The times of a view are those of the task, an event's are its own; they may differ by a moment. */
const withoutTimes = (view: TaskView): object => ({ ...view, created_at: 0, ended_at: view.ended_at !== null });

async function bothClients(t: TestContext): Promise<{ kit: Kit; clients: Record<string, Tutti> }> {
  const kit = await openKit();
  t.after(() => kit.close());
  const remote = httpClient({ url: kit.http.url, key: kit.key });
  t.after(() => remote.close());
  return { kit, clients: { "in process": kit.state.client, "over HTTP": remote } };
}

/** Yields the events and ends, or fails. */
function following(events: readonly EventOrDelta[], failure?: Error): Pick<Tutti, "follow"> {
  return {
    async *follow() {
      yield* events;
      if (failure !== undefined) throw failure;
    },
  };
}

describe("watching a task of the service", () => {
  for (const name of ["single", "all", "handover", "detached", "supervise"]) {
    test(`${name}.json: the folded tree and result are those the service gives`, async (t) => {
      const { kit, clients } = await bothClients(t);
      for (const [how, tutti] of Object.entries(clients)) {
        const { task } = await tutti.invoke(example(name), { folder: kit.folder, anew: true });
        const { tree, result } = await watchTask(tutti, { task, live: false }, []);
        const whole = await Promise.all((await tutti.tree(task)).map(({ id }) => tutti.task(id)));
        assert.deepEqual([...tree.tasks.values()].map(withoutTimes), whole.map(withoutTimes), how);
        assert.deepEqual(result, await tutti.result(task), how);
        assert.deepEqual([isSettled(tree), tree.open.size, tree.rehearsal], [true, 0, true], how);
        const recorded = await tutti.events({ task, after: 0, limit: 10_000 });
        assert.equal(tree.seq, recorded.at(-1)?.seq, `${how}: nothing happens after the last event`);
      }
    });
  }

  test("an open question is in the tree with all that a person needs, and is gone when it is answered", async (t) => {
    const { kit, clients } = await bothClients(t);
    for (const [how, tutti] of Object.entries(clients)) {
      for (const [name, value] of [
        ["ask", { kind: "question", value: "red" }],
        ["external", "rain"],
      ] as const) {
        const { task } = await tutti.invoke(example(name), { folder: kit.folder, anew: true });
        const by = { kind: "person", name: "me" } as const;
        const seen: unknown[] = [];
        let answering: Promise<void> | undefined;
        await watchTask(tutti, { task, live: false }, [
          (item, { open }) => {
            const [first] = open.values();
            if (!("event" in item) || first === undefined || seen.length > 0) return;
            seen.push({ ...first });
            answering = (async () => {
              const listed = [...(await tutti.asks(task)), ...(await tutti.waits(task))].map(({ id }) => id);
              assert.deepEqual(listed, [first.id], how);
              assert.deepEqual(first, await ("kind" in first ? tutti.ask(first.id) : tutti.wait(first.id)), how);
              await ("kind" in first ? tutti.answer(first.id, value, by) : tutti.settle(first.id, value, by));
              if (name === "ask") await tutti.cancel(task, "enough");
            })();
          },
        ]);
        await answering;
        assert.equal(seen.length, 1, how);
      }
    }
  });
});

describe("listeners", () => {
  test("are given each item in order, with the tree that contains it", async () => {
    const events = eventsOf([created(top), started(top), created(agent, top), completed(agent), completed(top)]);
    const items = events.map((event) => ({ event }));
    const seen: string[] = [];
    const canceled = eventsOf([{ task: agent, type: "task.canceled", data: { reason: "r" } }])[0] ?? assert.fail();
    await watchTask(following([...items, { event: { ...canceled, seq: 6 } }]), { task: top, live: false }, [
      (item, tree) => seen.push(`${"event" in item ? item.event.type : "text"} ${tree.tasks.size} ${tree.unfinished}`),
    ]);
    assert.deepEqual(seen, [
      "task.created 1 1",
      "task.started 1 1",
      "task.created 2 2",
      "task.completed 2 2",
      "task.completed 2 1",
      "task.canceled 2 0",
    ]);
  });
});

describe("watching fails", () => {
  const begun = eventsOf([created(top), started(top)]).map((event) => ({ event }));

  test("when following ends before the tree has", async () => {
    await assert.rejects(
      watchTask(following(begun), { task: top, live: false }, []),
      (thrown) => thrown instanceof TuttiError && thrown.code === "stopped",
    );
  });

  test("with the error of the service when the service stays away", async () => {
    const away = new TuttiError("unreachable", "it did not come back");
    await assert.rejects(watchTask(following(begun, away), { task: top, live: false }, []), away);
  });
});
