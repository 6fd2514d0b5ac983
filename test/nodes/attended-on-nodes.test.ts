// Programs whose runs are at another node than the one that they are connected to: their code is called through it, also when the owner of the run is lost.

import assert from "node:assert/strict";
import { after, test } from "node:test";

import { z } from "zod";

import type { Tutti } from "../../src/client/client.ts";
import { agent, type AnyAgent, openTutti, type OpenTutti, type Run, tool } from "../../src/index.ts";
import { call, script } from "../../src/library/testing.ts";
import { nodeProcesses, type NodeProcess } from "../support/node-processes.ts";
import { postgresPrograms } from "../support/postgres-server.ts";
import { serveNode, type ServingNode } from "../support/serving-node.ts";
import { newDatabase, sharedServer } from "../support/stores.ts";
import type { Cleanup } from "../support/temp-folder.ts";
import { until, within } from "../support/wait-until.ts";
import { weatherModel } from "../support/weather-model.ts";

const skip = postgresPrograms() === undefined ? "PostgreSQL is not installed" : false;
after(() => {
  if (skip === false) sharedServer().stop();
});

const patienceMs = 240_000;

interface Served {
  readonly url: string;
  readonly key: string;
}

interface Program {
  readonly t: Cleanup;
  readonly agents: readonly AnyAgent[];
  /** Whether its requests for something to do arrive. */
  readonly attends?: boolean;
  /** Told of the status of each answer to such a request. */
  readonly heard?: (status: number) => void;
}

/** A program that is connected to `a`; only what starts a run goes to `b`, as if a machine in front of the nodes chose. */
async function connected(a: Served, b: Served, { agents, attends = true, heard, t }: Program): Promise<OpenTutti> {
  const send: typeof fetch = async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    if (!attends && url.pathname.endsWith("/attend")) return new Response(null, { status: 503 });
    if (url.pathname === "/v1/invocations") return fetch(new URL(`${url.pathname}${url.search}`, b.url), init);
    const reply = await fetch(url, init);
    if (url.pathname.endsWith("/attend")) heard?.(reply.status);
    return reply;
  };
  const tutti = await openTutti({ url: a.url, key: a.key, agents, fetch: send });
  t.after(() => tutti.close());
  return tutti;
}

/** What only the owner knows is not told elsewhere. */
async function isElsewhere(tutti: Pick<Tutti, "budget">, task: string): Promise<boolean> {
  const { tree } = await tutti.budget(task);
  return tree.tokens.reserved === null;
}

/** A tool that waits until the test lets it go on. */
function heldTool() {
  const held = Promise.withResolvers<undefined>();
  const made: string[] = [];
  const charge = tool({
    name: "charge",
    description: "Charges somebody.",
    input: z.object({ who: z.string() }),
    effects: ["network"],
    timeoutMs: 10 * patienceMs,
    async run({ who }, { signal }) {
      made.push(who);
      await Promise.race([held.promise, new Promise((resolve) => signal.addEventListener("abort", resolve))]);
      return signal.aborted ? "given up" : `charged ${who}`;
    },
  });
  const payer = agent({
    name: "payer",
    instructions: "Pay.",
    model: script(call("charge", { who: "Ann" }), "{{last}}"),
    tools: [charge],
  });
  return { payer, made, go: () => held.resolve(undefined) };
}

const result = (run: Pick<Run<string>, "result">): Promise<string> =>
  within(() => run.result(), "the result", patienceMs);

const called = (made: readonly string[]): Promise<unknown> =>
  until(() => made.length > 0, "the tool is called", patienceMs);

test("the tool and the model object of a program are called for a run at another node", { skip }, async (t) => {
  const [a, b] = await twoNodes(t);
  const looked: string[] = [];
  const weather = tool({
    name: "weather",
    description: "Tells the weather.",
    input: z.object({ city: z.string() }),
    effects: ["network"],
    run({ city }) {
      looked.push(city);
      return { city, degrees: -3 };
    },
  });
  const elsewhere: boolean[] = [];
  const model = weatherModel({
    async before() {
      const [{ id } = { id: "" }] = (await a.state.client.tasks()).tasks;
      elsewhere.push(await isElsewhere(a.state.client, id));
    },
  });
  const guide = agent({ name: "guide", instructions: "Look first.", tools: [weather], model });
  const tutti = await connected(a, b, { agents: [guide], t });
  assert.equal(await result(await tutti.run(guide, "go")), "It is cold.");
  assert.deepEqual([looked, elsewhere], [["Oslo"], [true, true]]);
});

test(
  "the owner of a run leaves under a call: the next one gets the outcome of the same call (1, 3)",
  { skip },
  async (t) => {
    const [a, b] = await twoNodes(t);
    const { payer, made, go } = heldTool();
    const tutti = await connected(a, b, { agents: [payer], t });
    const run = await tutti.run(payer, "go");
    await called(made);
    assert.equal(await isElsewhere(a.state.client, run.task), true);
    await b.close();
    await isAt(a.state.client, run);
    go();
    assert.match(await result(run), /charged Ann/);
    assert.deepEqual(made, ["Ann"]);
  },
);

async function twoNodes(t: Cleanup): Promise<[ServingNode, ServingNode]> {
  const address = newDatabase();
  const a = await serveNode(t, address, { name: "a" });
  return [a, await serveNode(t, address, { name: "b" })];
}

async function twoProcesses(t: Cleanup): Promise<[NodeProcess, NodeProcess]> {
  const nodes = nodeProcesses(t);
  return [await nodes.start("a"), await nodes.start("b")];
}

const isAt = (tutti: Pick<Tutti, "budget">, { task }: { readonly task: string }): Promise<unknown> =>
  until(async () => !(await isElsewhere(tutti, task)), "the node has the run", patienceMs);

test(
  "the owner of two runs is killed: the call that was under way is made once, and the run that waited for a process goes on (1, 3)",
  { skip },
  async (t) => {
    const [a, b] = await twoProcesses(t);
    const [first, second] = [heldTool(), heldTool()];
    const run = await (await connected(a, b, { t, agents: [first.payer] })).run(first.payer, "first");
    await called(first.made);
    const absent = await connected(a, b, { t, agents: [second.payer], attends: false });
    const waiting = await absent.run(second.payer, "second", { key: "once" });
    await until(
      async () => (await a.tutti.waits(waiting.task)).some(({ label }) => label.includes("the tool charge")),
      "it waits for a process",
      patienceMs,
    );
    for (const { task } of [run, waiting]) assert.equal(await isElsewhere(a.tutti, task), true);
    await b.kill();
    await isAt(a.tutti, run);
    first.go();
    assert.match(await result(run), /charged Ann/);
    assert.deepEqual(first.made, ["Ann"]);

    // The other node has another folder of its own; the request names none, so it is the same.
    const back = await connected(a, a, { t, agents: [second.payer] });
    const found = await back.run(second.payer, "second", { key: "once" });
    assert.deepEqual([found.task, found.existed], [waiting.task, true]);
    second.go();
    assert.match(await result(found), /charged Ann/);
    assert.deepEqual(second.made, ["Ann"]);
  },
);

test(
  "the owner of a run is frozen past its lease under a call: the process is not left waiting for it (1, 3)",
  { skip },
  async (t) => {
    const [a, b] = await twoProcesses(t);
    const { payer, made, go } = heldTool();
    const statuses: number[] = [];
    const heard = (status: number): void => void statuses.push(status);
    const tutti = await connected(a, b, { agents: [payer], heard, t });
    const run = await tutti.run(payer, "go");
    await called(made);
    assert.equal(await isElsewhere(a.tutti, run.task), true);
    b.freeze();
    await isAt(a.tutti, run);
    go();
    assert.match(await result(run), /charged Ann/);
    assert.deepEqual(made, ["Ann"]);
    const failed = statuses.filter((status) => status !== 200);
    assert.equal(failed[0], 503, "it was told to ask again before its request to the frozen node timed out");
  },
);
