import assert from "node:assert/strict";
import { test } from "node:test";

import { z } from "zod";

import { until } from "../../test/support/wait-until.ts";
import type { Tutti } from "../client/client.ts";
import type { AttendReport } from "../protocol/api/attend-shapes.ts";
import { attendRun } from "./attend-run.ts";
import { tool } from "./code-tool.ts";

interface Scene {
  /** What the daemon says of every notice, by its life. */
  lateIn: string | undefined;
  readonly reports: AttendReport["notices"];
  readonly aborted: () => boolean;
  progress(text: string): void;
  end(): void;
  over(): Promise<void>;
}

/** A program that makes one call, which the daemon asked for in the life `first`. */
async function oneCall(): Promise<Scene> {
  const [called, ended, closed] = [
    Promise.withResolvers<{ readonly signal: AbortSignal; progress(text: string): void }>(),
    Promise.withResolvers<string>(),
    new AbortController(),
  ];
  const slow = tool({
    name: "slow",
    description: "Takes its time.",
    input: z.object({}),
    effects: [],
    run(_, context) {
      called.resolve(context);
      return ended.promise;
    },
  });
  const reports: AttendReport["notices"] = [];
  let polls = 0;
  const client: Pick<Tutti, "attend" | "reportAttended"> = {
    async attend(_, request, { signal } = {}) {
      polls += 1;
      const orders =
        polls === 1 ? [{ number: 1, order: { kind: "tool", call: "c", name: "slow", input: {} } as const }] : [];
      if (polls > 1) await new Promise((resolve) => signal?.addEventListener("abort", resolve));
      return { life: request.life ?? "first", lease_ms: 30_000, over: false, orders };
    },
    async reportAttended(_, { notices }) {
      reports.push(...notices);
      const { lateIn: life } = scene;
      return life === undefined ? { late: [], life: "first" } : { late: notices.map(({ call }) => call), life };
    },
  };
  const code = () => ({
    tools: new Map([["slow", slow]]),
    workflows: new Map(),
    models: new Set<string>(),
    model: () => Promise.reject(new Error("there is none")),
  });
  const running = attendRun(client, { task: "tsk_1", process: "a-process-of-a-test", code, signal: closed.signal });
  const context = await called.promise;
  const scene: Scene = {
    lateIn: undefined,
    reports,
    aborted: () => context.signal.aborted,
    progress: (text) => context.progress(text),
    end: () => ended.resolve("done"),
    async over() {
      closed.abort();
      await running;
    },
  };
  return scene;
}

test("a daemon that begins anew and does not know a call yet does not end it: it may ask for it again (1)", async () => {
  const scene = await oneCall();
  scene.lateIn = "second";
  scene.progress("half way");
  await until(() => scene.reports.length === 1);
  scene.progress("almost there");
  await until(() => scene.reports.length === 2);
  assert.equal(scene.aborted(), false);
  scene.end();
  await until(() => scene.reports.some(({ kind }) => kind === "result"), "the outcome is told");
  await scene.over();
});

for (const { when, life } of [
  { when: "the daemon that asked for it has given it up", life: "first" },
  { when: "the run has ended", life: "" },
]) {
  test(`a call is given up when ${when}`, async () => {
    const scene = await oneCall();
    scene.lateIn = life;
    scene.progress("half way");
    await until(() => scene.aborted(), "it is aborted");
    scene.end();
    await scene.over();
  });
}
