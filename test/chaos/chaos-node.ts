// One node of the chaos: a process that runs the trees it owns, and takes requests about any tree over HTTP.
// node test/chaos/chaos-node.ts NAME DATABASE_URL SCHEMA FOLDER LEASE_MS [PLANT]

import { closeSync, openSync, writeSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { text as textOf } from "node:stream/consumers";

import { ClusterNode } from "../../src/cluster/cluster-node.ts";
import { systemClock } from "../../src/engine/clock.ts";
import { Engine } from "../../src/engine/engine.ts";
import { toTuttiError } from "../../src/protocol/error.ts";
import { userMessage } from "../../src/protocol/task/message.ts";
import { askName } from "../../src/store/names.ts";
import { openPostgresView } from "../../src/store/postgres/postgres-view.ts";
import type { Store } from "../../src/store/store.ts";
import type { EventRecord } from "../../src/store/view.ts";
import { agentRunner } from "../crash/crash-agents.ts";
import { type Effect, rootTask, runnerWith } from "../crash/crash-loops.ts";
import { type ChaosReply, ChaosRequest, type NodeWord, type SeenEvent } from "./chaos-request.ts";

const [name = "", url = "", schema = "", folder = "", lease = "1000", plant] = process.argv.slice(2);
const person = { kind: "person", name: "Ada" } as const;
const address = { url, schema };
const eventsAtOnce = 500;

const say = (word: NodeWord): void => void process.stdout.write(`${JSON.stringify(word)}\n`);

// One line is one write to a file that is opened for appending, so a kill leaves whole lines or none.
const effects = openSync(join(folder, "effects.jsonl"), "a");
/** `life`: the incarnation of the node under which the body of the step runs. */
const effectOf =
  (life: number): Effect =>
  (key, repeatable) =>
    void writeSync(effects, `${JSON.stringify([life, key, repeatable ? "repeatable" : "once", Date.now()])}\n`);

/** A planted fault: whoever waits for a commit is told at once that it is there. */
const answersEarly = (store: Store): Store =>
  new Proxy(store, {
    get: (of, property) =>
      property === "committed" ? () => Promise.resolve() : (Reflect.get(of, property) as unknown),
  });

const node = await ClusterNode.open({
  address,
  identity: { name, url: "", labels: [], version: "chaos", leaseMs: Number(lease), machine: folder },
  cacheFolder: join(folder, `cache-${name}`),
  engine({ store, incarnation }) {
    const effect = effectOf(incarnation);
    return new Engine({
      store: plant === "early-answers" ? answersEarly(store) : store,
      clock: systemClock,
      slots: 48,
      runners: { loop: runnerWith(effect), local: agentRunner(effect) },
    });
  },
  onFenced: ({ details, message }) => say({ say: "fenced", named: details?.["fenced"] === true, message }),
  onLeft: (root, { message }) => say({ say: "left", root, message }),
});
const { salt } = node.node.store;
const view = openPostgresView(address, salt);

function seen({ seq, task, root, type, made, wait }: EventRecord): SeenEvent {
  const ask =
    type === "ask.raised" && wait !== undefined ? { name: askName(salt, wait.id), kind: wait.ask ?? "" } : null;
  return { seq, task, root, type, agent: made?.agent ?? null, ask };
}

async function perform(request: ChaosRequest): Promise<unknown> {
  switch (request.do) {
    case "start":
      return node.tasks.start(rootTask(request.agent), { once: { key: request.key, content: request.agent } });
    case "deliver":
      return node.tasks.deliver(request.wait, request.value, person);
    case "message":
      return node.tasks.message(request.task, userMessage(request.text));
    case "cancel":
      return node.tasks.cancel(request.task, "not wanted any more");
    case "retry":
      return node.tasks.retry(request.task);
    case "result":
      return view.result(request.task);
    case "events":
      return (await view.eventsAfter({ after: request.after, limit: eventsAtOnce })).rows.map(seen);
  }
}

const server = createServer((request, response) => {
  const answer = (reply: ChaosReply): void => void response.end(JSON.stringify(reply));
  textOf(request)
    .then((body) => perform(ChaosRequest.parse(JSON.parse(body))))
    .then(
      (value) => answer({ value: value ?? null }),
      (thrown: unknown) => {
        const { code, message } = toTuttiError(thrown);
        answer({ error: { code, message } });
      },
    );
});
server.listen(0, "127.0.0.1", () => {
  const bound = server.address();
  if (bound !== null && typeof bound !== "string") say({ say: "ready", port: bound.port });
});

process.once("SIGTERM", () => {
  server.close();
  server.closeAllConnections();
  view.close();
  void node.close().finally(() => {
    closeSync(effects);
    process.exit(0);
  });
});
