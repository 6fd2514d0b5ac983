// A process with one delegated task, which stops for good at a named point the first time it gets there, so that it can be killed.

import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { Model } from "../../src/model-port.ts";
import type { Verify } from "../../src/runner/assignment/verifier.ts";
import { assignmentWorld, type Delegated, threeModels } from "./assignment-kit.ts";

interface Order {
  readonly root: string;
  /** Where it stops; nowhere when absent. */
  readonly point?: string;
  readonly delegated: Delegated;
}

const { root, point, delegated }: Order = JSON.parse(process.argv[2] ?? "{}");

/** The marker tells the test that the process stands there; the next process goes on. */
async function reach(name: string): Promise<void> {
  const marker = join(root, `reached-${name}`);
  if (name !== point || existsSync(marker)) return;
  writeFileSync(marker, "");
  await new Promise(() => setInterval(() => undefined, 60_000));
}

/** A line for everything that was done to its end. */
function done(line: string): void {
  appendFileSync(join(root, "ledger"), `${line}\n`);
}

const verify =
  (real: Verify): Verify =>
  async (request, step) => {
    await reach("verify");
    const outcome = await real(request, step);
    done(`verify ${request.attempt}`);
    return outcome;
  };

const model = (real: Model): Model => ({
  ...real,
  async call(request, options) {
    if (request.agent === "_reviewer") await reach("review");
    const reply = await real.call(request, options);
    done(`${request.agent} ${request.messages.length}`);
    return reply;
  },
});

/** The workspace that is made after the verification is the reviewer's. */
const checkpoint = async (name: string): Promise<void> => {
  const ledger = join(root, "ledger");
  const isVerified = existsSync(ledger) && readFileSync(ledger, "utf8").includes("verify");
  if (name === "recorded" && isVerified) await reach("checkout");
};

const policy = { ...threeModels, review: "always" } as const;
const world = await assignmentWorld(root, { policy, verify, model, checkpoint });
const task = await world.start(delegated);
const result = await world.result(task);
const moved = world.events(task).flatMap(({ type, data }) => (type === "handoff.moved" ? [data["to"]] : []));
const evidence = world.events(task).filter(({ type }) => type === "evidence.added").length;
await world.close();
process.stdout.write(`${JSON.stringify({ result, moved, evidence })}\n`);
