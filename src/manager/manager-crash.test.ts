import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";

import { z } from "zod";

import { delegate, type ManagerWorld, metIntegration, openManagerWorld } from "../../test/support/manager-kit.ts";
import { reopenAfterKill } from "../../test/support/kill-process.ts";
import { tempFolder } from "../../test/support/temp-folder.ts";
import { until } from "../../test/support/wait-until.ts";
import { rehearsalModel } from "../model/rehearsal/rehearsal-model.ts";

const script = rehearsalModel({
  rules: [
    { turn: 0, raw: '{"action":"respond","message":"Which one?"}' },
    { turn: 1, raw: delegate([{ id: "a" }, { id: "b", after: ["a"] }, { id: "c", after: ["b"] }]) },
    { turn: 2, raw: delegate([{ id: "c" }]) },
  ],
});

const Worked = z.object({ state: z.enum(["verified", "failed"]), reason: z.string(), evidence: z.array(z.string()) });

/** What was really done, over both processes. */
interface Counts {
  readonly sessions: Map<string, number>;
  replies: number;
}

/** Is called in each phase; the phase goes on when what it returns resolves. */
type Reach = (phase: string, signal: AbortSignal) => Promise<void>;

function worldOf(folder: string, counts: Counts, reach: Reach): ManagerWorld {
  return openManagerWorld({
    folder,
    rules: [],
    async child({ id }, durable) {
      await reach(`launch ${id}`, durable.signal);
      return durable.step("work", { repeatable: false, schema: Worked }, () => {
        counts.sessions.set(id, (counts.sessions.get(id) ?? 0) + 1);
        if (id === "c") return { state: "failed" as const, reason: "no", evidence: [] };
        return { state: "verified" as const, reason: "checked", evidence: ["evd_1"] };
      });
    },
    deps: {
      model: () => ({
        estimate: (request) => script.estimate(request),
        async call(request, options) {
          await reach(`decompose ${request.messages.length}`, options.signal);
          counts.replies += 1;
          return script.call(request, options);
        },
      }),
      async integrate(request, { signal }) {
        await reach("verify", signal);
        return metIntegration(request);
      },
    },
  });
}

const phases = [
  "decompose 1",
  "ask",
  "decompose 3",
  "launch a",
  "launch b",
  "launch c",
  "decompose 5",
  "launch c-2",
  "verify",
];

for (const phase of phases) {
  test(`killed in the phase ${phase}, the goal goes on there and ends the same (invariant 3)`, async (t) => {
    const counts: Counts = { sessions: new Map(), replies: 0 };
    const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
    const first = worldOf(tempFolder(t), counts, async (at, signal) => {
      if (at !== phase) return;
      reach();
      await once(signal, "abort");
      signal.throwIfAborted();
    });
    await first.engine.recover();
    const root = await first.start({ text: "make it green", accept: ["npm test passes"] });
    const isBlocked = async (): Promise<boolean> => (await first.goal(root)).status === "blocked";
    if (phase === "ask") await until(isBlocked);
    else if (phase !== "decompose 1") await first.answer(root, "the first");
    if (phase !== "ask") await reached;
    await first.store.committed();
    const second = await reopenAfterKill(t, first, (folder) => worldOf(folder, counts, async () => undefined));
    t.after(() => second.stop());
    await second.engine.recover();
    if (phase === "ask" || phase === "decompose 1") await second.answer(root, "the first");
    const { status, content } = await second.engine.result(root);
    assert.equal(status, "completed", JSON.stringify(content));
    const { links, rounds, status: ended } = await second.goal(root);
    assert.deepEqual(links.map(({ planned, state }) => `${planned} ${state}`).toSorted(), [
      "a verified",
      "b verified",
      "c superseded",
      "c-2 verified",
    ]);
    assert.deepEqual([ended, rounds, counts.replies], ["done", 2, 3]);
    assert.deepEqual([...counts.sessions.values()], [1, 1, 1, 1]);
  });
}
