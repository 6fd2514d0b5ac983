// What tests of the cap of a day share: work that asks models without end, a model server that says what each call used, and how all of it waits.

import type { TestContext } from "node:test";

import type { Tutti } from "../../src/client/client.ts";
import type { OpenAsk } from "../../src/protocol/api/task-shapes.ts";
import type { TaskId } from "../../src/protocol/ids.ts";
import { modelServer, type ModelServer } from "./model-server.ts";

/** What the server says that each call used. */
export const perCall = 500;

export function sellingServer(t: TestContext): Promise<ModelServer> {
  const reply = { text: ["Something."], usage: { input: perCall - 100, output: 100 } };
  return modelServer(t, "openai-compatible", () => ({ reply }));
}

/** The config of a user with a cap, whose models are on the loopback. */
export function cappedConfig(server: ModelServer, limits: unknown): object {
  const here = { kind: "openai-compatible", base_url: `${server.origin}/v1` };
  const models = { default: "here/m", providers: { here }, prices: { "here/m": { input: 1, output: 10 } } };
  return { models, limits };
}

export function spendthrift(at: number): string {
  const message = { role: "user", parts: [{ part_type: "text", data: `Say something, number ${at}.` }] };
  return JSON.stringify({
    invocation: { targets: [{ agent: { type: "named", agent_id: "talker" }, message }] },
    agents: { talker: { instructions: "You talk.", model: "here/m", max_output_tokens: 1_000 } },
    roots: ["."],
  });
}

/** The questions about the cap that are open, whoever's. */
export async function capAsks(client: Tutti): Promise<OpenAsk[]> {
  const asks: OpenAsk[] = [];
  for (const { id } of await client.asks()) {
    const ask = await client.ask(id);
    if (ask.question.includes("over all work")) asks.push(ask);
  }
  return asks;
}

/** Every call that is not answered yet has been sent, or waits for the cap where everybody can see it. */
export async function allWait(client: Tutti, roots: readonly TaskId[], server: ModelServer): Promise<boolean> {
  const { tasks } = await client.status();
  const open = await client.waits();
  const asks = await capAsks(client);
  // Each root waits for its one agent.
  const unfinished = (tasks.pending + tasks.running + tasks.input_required) / 2;
  return server.received.length + unfinished === roots.length && open.length + asks.length === unfinished;
}
