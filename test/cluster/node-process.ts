// A node in a process of its own, for tests that freeze or kill it: works through steps that may not be repeated.
// node test/cluster/node-process.ts NAME DATABASE_URL SCHEMA FOLDER LEASE_MS HOW

import { openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import { z } from "zod";

import { ClusterNode } from "../../src/cluster/cluster-node.ts";
import { systemClock } from "../../src/engine/clock.ts";
import { Engine } from "../../src/engine/engine.ts";
import type { Durable } from "../../src/ports.ts";
import { TuttiError } from "../../src/protocol/error.ts";
import { task } from "../support/engine-kit.ts";

const [name = "", url = "", schema = "", folder = "", lease = "", how = ""] = process.argv.slice(2);
const once = { repeatable: false, schema: z.string() } as const;
const stepMs = 120;
/** Turns of the microtasks after which an operation has queued what it writes; the commit is sent in a later phase. */
const soon = 50;

const say = (word: string): void => void writeSync(1, `${word}\n`);
const effects = openSync(join(folder, "effects.jsonl"), "a");
const effect = (key: string): void => void writeSync(effects, `${JSON.stringify([name, key, Date.now()])}\n`);

/** Until somebody sends SIGCONT. */
function freeze(): void {
  say("frozen");
  process.kill(process.pid, "SIGSTOP");
}

const unlessUnknown = (thrown: unknown): string => {
  if (thrown instanceof TuttiError && thrown.code === "outcome_unknown") return "unknown";
  throw thrown;
};

const loops: Record<string, (durable: Durable) => Promise<unknown>> = {
  async work(d) {
    const act = (key: string): Promise<string> =>
      d.step(key, once, (context) => {
        if (key === "second" && how === "frozen before the body") freeze();
        effect(context.key);
        return `did ${key}`;
      });
    const first = await act("first");
    const acting = act("second").catch(unlessUnknown);
    if (how === "frozen before the commit") {
      for (let turn = 0; turn < soon; turn += 1) await Promise.resolve();
      freeze();
    }
    return [first, await acting, await act("third")];
  },
  async steady(d) {
    const outcomes: string[] = [];
    for (let step = 0; step < 10; step += 1) {
      const acting = d.step(`s${step}`, once, async (context) => {
        effect(context.key);
        await pause(stepMs);
        return "done";
      });
      outcomes.push(await acting.catch(unlessUnknown));
    }
    return outcomes;
  },
};

const node = await ClusterNode.open({
  address: { url, schema },
  identity: { name, url: "", labels: [], version: "test", leaseMs: Number(lease) },
  cacheFolder: join(folder, `cache-${name}`),
  engine: ({ store }) =>
    new Engine({
      store,
      clock: systemClock,
      runners: { loop: (durable) => loops[durable.agent]?.(durable) ?? Promise.reject(new Error("no such loop")) },
      slots: 400,
    }),
  onFenced: ({ details }) => say(`fenced ${details?.["fenced"] === true ? "by name" : "by something else"}`),
});
say("ready");
// When all nodes are there, so that none is far ahead of another.
if (!how.startsWith("frozen")) await new Promise((resolve) => process.once("SIGUSR2", resolve));
const [agent = "", count = "0"] = how.startsWith("frozen") ? ["work", "1"] : ["steady", how];
await Promise.all(Array.from({ length: Number(count) }, () => node.tasks.start(task(agent))));
say("started");
